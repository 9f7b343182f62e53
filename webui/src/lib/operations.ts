/** Paths of the API that more than one module uses. */
export const RESTART = '/api/restart';
export const SETTINGS = '/api/settings';
export const NEXT = '/api/screen/next';
export const PREVIOUS = '/api/screen/previous';
export const PAUSE = '/api/action/pause';
export const RUN = '/api/action/timer_restart';
export const RESTART_SOURCES = '/api/restart_datasources';
export const PREVIEW = '/api/preview.png';
export const SHOW_CUSTOM = '/api/show/custom';
export const PICTURE = '/api/panels.png';
