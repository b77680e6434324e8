import { type FileContent, readRegularFile, type ReadFailure } from '../../host/files/regular-file.ts'
import { createSecretFileTest } from '../../policy/path/secret-file-test.ts'
import { abbreviateHome } from './folders.ts'
import { defined } from '../../model/defined.ts'

/** The text of a file, or why it was not read, in words that follow its name. */
export type ProjectFileText =
  | { readonly text: string; readonly isCut: boolean }
  | { readonly problem: string | undefined }

/**
 * Reads a file on the person's behalf: instructions, settings, commands, attachments. Every file that we read without
 * being asked goes through here. With `within`, it must lie in that folder. Without a problem there is no such file.
 */
export function readProjectText(path: string, limits: { within?: string; maxBytes: number }): ProjectFileText {
  const content = readProjectBytes(path, limits)
  if ('problem' in content) return content
  const { bytes, isCut } = content
  if (bytes.includes(0)) return { problem: 'is no text' }
  // A character that was cut in two is left out.
  return { text: new TextDecoder().decode(bytes, { stream: isCut }), isCut }
}

/** The same for a file that need not be text. */
export function readProjectBytes(
  path: string,
  { within, maxBytes }: { within?: string; maxBytes: number },
): Extract<FileContent, { bytes: Buffer }> | { readonly problem: string | undefined } {
  secretTestCache ??= createSecretFileTest()
  const isSecretPath = secretTestCache
  const content = readRegularFile(path, {
    maxBytes,
    ...defined({ within }),
    // What git keeps is no text of the project's, and addresses in it may hold keys.
    isRefused: (real, folder) => isSecretPath(real, folder ?? '') || /\/\.git\//.test(real.slice(folder?.length ?? 0)),
  })
  return 'bytes' in content ? content : { problem: describeReadProblem(content.problem, content.real) }
}

let secretTestCache: ReturnType<typeof createSecretFileTest> | undefined

function describeReadProblem(problem: ReadFailure, real = ''): string | undefined {
  if (problem === 'outside') return `leads out of the folder, to ${abbreviateHome(real)}`
  if (problem === 'refused') return `leads to a file that usually holds secrets, ${abbreviateHome(real)}`
  return READ_PROBLEM_TEXTS[problem]
}

const READ_PROBLEM_TEXTS: Record<Exclude<ReadFailure, 'outside' | 'refused'>, string | undefined> = {
  missing: undefined,
  'not-ordinary': 'is no ordinary file',
  unreadable: 'cannot be read',
}
