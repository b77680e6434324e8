/** The programs of a command, for the title of a question. It is only shown; what may run is decided by a real parser. */
export function findCommandPrograms(command: string): string[] {
  const roots = splitAtOperators(command).map((part) => {
    const words = part.trim().split(/\s+/)
    const first = words.find((word) => word !== '' && !/^[A-Za-z_]\w*=/.test(word) && !/^[!({]+$/.test(word))
    return (first ?? '').replace(/^[({]*(?:.*\/)?|["']/g, '')
  })
  return [...new Set(roots.filter((root) => root !== ''))]
}

function splitAtOperators(command: string): string[] {
  const found = ['']
  let quote = ''
  for (let at = 0; at < command.length; at++) {
    const character = command[at] ?? ''
    const isOperator = quote === '' && /[;&|\n]/.test(character)
    if (quote !== "'" && character === '\\') found[found.length - 1] += character + (command[++at] ?? '')
    else if (isOperator) found.push('')
    else {
      if (quote === character) quote = ''
      else if (quote === '' && (character === '"' || character === "'")) quote = character
      found[found.length - 1] += character
    }
  }
  return found
}
