/** The words of a command as written in a rule: blanks divide, quotes hold together; nothing else has a meaning. */
export function splitRuleWords(text: string): string[] | undefined {
  const words: string[] = []
  const word = /\s*((?:[^\s'"\\]|'[^']*'|"[^"\\]*")+)/y
  for (let match = word.exec(text); match; match = word.exec(text)) {
    words.push((match[1] ?? '').replace(/'([^']*)'|"([^"]*)"/g, (_, one?: string, two?: string) => one ?? two ?? ''))
    if (text.slice(word.lastIndex).trim() === '') return words
  }
  return text.trim() === '' ? [] : undefined
}

/** Words as they are written in a rule, so that `splitRuleWords` reads them back; undefined if that is impossible. */
export function quoteRuleWords(words: readonly string[]): string | undefined {
  const text = words.map(quoteWord).join(' ')
  const parsedBack = splitRuleWords(text)
  return parsedBack?.length === words.length && parsedBack.every((word, at) => word === words[at]) ? text : undefined
}

function quoteWord(word: string): string {
  if (/^[\w@%+=:,./-]+$/.test(word)) return word
  return word.includes("'") ? `"${word}"` : `'${word}'`
}
