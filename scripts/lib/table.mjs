// Tables in Markdown.

/** A table: its head, and its rows of cells. */
export function table(head, rows) {
  const line = (cells) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
  return [line(head), `|${head.map(() => '---').join('|')}|`, ...rows.map(line)].join('\n')
}

/** Text as code. */
export const code = (text) => `\`${text}\``
