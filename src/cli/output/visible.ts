/** Text with its control characters made visible: nothing that a model or a file says can steer the terminal. */
export function visible(text: string): string {
  return HIDDEN.test(text) ? text.replace(ALL_HIDDEN, mark) : text
}

/** Everything but line ends and tabs that moves the cursor, changes a direction or shows nothing. */
const HIDDEN = /[^\P{Cc}\n\t]|[\p{Cf}\p{Zl}\p{Zp}]/u
const ALL_HIDDEN = new RegExp(HIDDEN, 'gu')

function mark(char: string): string {
  return `\\u{${(char.codePointAt(0) ?? 0).toString(16)}}`
}
