/** The logo and name of the page. It is in the HTML document, so that it shows before scripts and translations load. */
export const mark = document.querySelector('.mark')!;
