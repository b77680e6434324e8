/** Only printing, deleting, quitting and replacing are harmless: `1,20p`, `s/a/b/g`. */
export function findSedRisk(script: string): string | undefined {
  let rest = script.trim()
  while (rest !== '') {
    const match = SED_COMMAND.exec(rest)
    if (!match) return `the sed script “${script}” is not known to be harmless`
    rest = rest.slice(match[0].length)
  }
  return undefined
}

/** Text between delimiters: no newline, and no delimiter in square brackets, on which implementations differ. */
const sedTextPattern = (sign: string) => String.raw`(?:[^\\\n\[${sign}]|\\[^\n]|\[[^\]\n${sign}]*\])*`
const SED_ADDRESS = String.raw`(?:\d+(?:~\d+)?|\$|/${sedTextPattern('/')}/I?)`
const SED_REPLACE = ['/', '|', '#', ',', '@', ':']
  .map((sign) => (sign === '|' ? String.raw`\|` : sign))
  .map((sign) => `s${sign}${sedTextPattern(sign)}${sign}${sedTextPattern(sign)}${sign}[gpIi0-9]*`)
  .join('|')
const SED_COMMAND = new RegExp(
  String.raw`^(?:${SED_ADDRESS}(?:,(?:\+?${SED_ADDRESS}))?\s*!?\s*)?(?:[pd=]|q\d*|${SED_REPLACE})\s*(?:;\s*|$)`,
)

/**
 * Awk cannot evaluate text as code, so a script without the syntax for pipes, files, commands and special variables
 * can only compute and print.
 */
export function findAwkRisk(script: string): string | undefined {
  const riskyWord =
    /[>@`]|\\\n|(?<!\|)\|(?!\|)|system|getline|ARG|close|fflush|SYMTAB|FUNCTAB|PROCINFO|ENVIRON|include|load/.exec(
      script,
    )?.[0]
  return riskyWord === undefined ? undefined : `“${riskyWord}” in an awk script is not known to be harmless`
}

/** Some filters read other files or the environment. */
export function findJqRisk(filter: string): string | undefined {
  const riskyWord = /\b(?:import|include|input_filename|modulemeta|get_search_list|env|ENV|__prog_args)\b/.exec(
    filter,
  )?.[0]
  return riskyWord === undefined ? undefined : `“${riskyWord}” in a jq filter is not known to be harmless`
}

/** `%n` sets a variable. */
export function findPrintfRisk(format: string): string | undefined {
  return /^(?:[^%]|%%|%[-+ 0#]*\d*(?:\.\d+)?[sdiuxXofeEgGcbq])*$/.test(format)
    ? undefined
    : `the format “${format}” is not known to be harmless`
}
