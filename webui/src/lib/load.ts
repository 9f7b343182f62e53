/** Waits for the words of the page. */
import { fetchWords } from './words';

await fetchWords();
