/** Loads the translations before the modules that use them. */
import { fetchWords } from './words';

await fetchWords();
