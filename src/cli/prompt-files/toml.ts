import { parse, TomlError } from 'smol-toml'

/** Reads TOML, as commands of Gemini CLI and settings of Codex use it. Throws an error of one line. */
export function parseToml(text: string): Readonly<Record<string, unknown>> {
  try {
    return parse(text.replace(/^\uFEFF/, ''))
  } catch (error) {
    if (!(error instanceof TomlError)) throw error
    const reason = error.message.split('\n', 1)[0]?.replace('Invalid TOML document: ', '')
    throw new Error(`line ${error.line}: ${reason}`, { cause: error })
  }
}
