/** Says in words what the glass shows. */

const WORDS: Record<string, string> = { STS: 'satoshis', '₿': 'bitcoin' };

/** One line for the glass: the label, then the value as people read it. */
export function spoken(cells: readonly string[]): string {
  const labels: string[] = [];
  let value = '';
  const flush = () => {
    const trimmed = value.trim().replace(/\s+/g, ' ');
    if (trimmed) labels.push(trimmed);
    value = '';
  };
  for (const cell of cells) {
    const text = cell.trim();
    if (text === '') {
      value += ' ';
    } else if (WORDS[text]) {
      value += `${WORDS[text]} `;
    } else if (/^mdi[:-]?/.test(text)) {
      flush();
      labels.push(text.replace(/^mdi[:-]?/, '').replace(/[-_]/g, ' '));
    } else if (isLabel(text)) {
      flush();
      labels.push(label(text));
    } else if ([...text].length > 2) {
      flush();
      labels.push(text);
    } else {
      value += text;
    }
  }
  flush();
  return labels.join(', ');
}

function isLabel(text: string): boolean {
  return text.length > 1 && text.includes('/');
}

function label(text: string): string {
  if (/^[a-z]+\/v?[A-Z]+$/.test(text)) return text.replace('/', ' per ');
  if (/^\d+\/\d+$/.test(text)) return text;
  return text.replace('/', ' ');
}
