/** What a person sees of the settings form; it outlives a change of view, so that Back finds it unchanged. */
class Form {
  search = $state('');
  /** Sections whose further settings are open. */
  open = $state<Record<string, boolean>>({});
}

export const form = new Form();
