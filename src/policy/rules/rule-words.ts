/**
 * Splits the words of a command in a rule at spaces; only quotes have a special meaning. Returns undefined if it is
 * invalid.
 */
export function splitRuleWords(text: string): string[] | undefined {
  const words: string[] = []
  const word = /\s*((?:[^\s'"\\]|'[^']*'|"[^"\\]*")+)/y
  for (let match = word.exec(text); match; match = word.exec(text)) {
    words.push((match[1] ?? '').replace(/'([^']*)'|"([^"]*)"/g, (_, one?: string, two?: string) => one ?? two ?? ''))
    if (text.slice(word.lastIndex).trim() === '') return words
  }
  return text.trim() === '' ? [] : undefined
}

/** Inverse of `splitRuleWords`. Returns undefined if the words cannot be written in a rule. */
export function quoteRuleWords(words: readonly string[]): string | undefined {
  const text = words.map(quoteWord).join(' ')
  const parsedBack = splitRuleWords(text)
  return parsedBack?.length === words.length && parsedBack.every((word, at) => word === words[at]) ? text : undefined
}

function quoteWord(word: string): string {
  if (/^[\w@%+=:,./-]+$/.test(word)) return word
  return word.includes("'") ? `"${word}"` : `'${word}'`
}
