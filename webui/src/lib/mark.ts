/** The name of the page, which stands in the document itself: it is seen before any program or word is there. */
export const mark = document.querySelector('.mark')!;
