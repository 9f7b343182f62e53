/** View state of the settings form; it is preserved when the view changes, so that Back restores the form. */
class Form {
  search = $state('');
  /** Sections with "More" open. */
  open = $state<Record<string, boolean>>({});
}

export const form = new Form();
