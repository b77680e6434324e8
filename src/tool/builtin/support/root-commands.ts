/**
 * The programs that a command begins its parts with, for the title of a question. This is for the person's eyes only;
 * what may run is judged elsewhere, by a real parser.
 */
export function rootCommands(command: string): string[] {
  const roots = parts(command).flatMap((part) => {
    const words = part.trim().split(/\s+/)
    const first = words.find((word) => word !== '' && !/^[A-Za-z_]\w*=/.test(word) && !/^[!({]+$/.test(word))
    return first === undefined
      ? []
      : [
          first
            .replace(/^[({]+/, '')
            .replace(/^.*\//, '')
            .replace(/["']/g, ''),
        ]
  })
  return [...new Set(roots.filter((root) => root !== ''))]
}

/** Cuts at the operators that stand outside of quotes. */
function parts(command: string): string[] {
  const found = ['']
  let quote = ''
  for (let at = 0; at < command.length; at++) {
    const sign = command[at] ?? ''
    const isCut = quote === '' && /[;&|\n]/.test(sign)
    if (quote !== "'" && sign === '\\') found[found.length - 1] += sign + (command[++at] ?? '')
    else if (isCut) found.push('')
    else {
      if (quote === sign) quote = ''
      else if (quote === '' && (sign === '"' || sign === "'")) quote = sign
      found[found.length - 1] += sign
    }
  }
  return found
}
