import { type FileReadResult, readRegularFile, type ReadFailure } from '../../host/files/regular-file.ts'
import { createSecretFileTest } from '../../policy/path/secret-file-test.ts'
import { abbreviateHome } from './folders.ts'
import { defined } from '../../model/defined.ts'

export interface ProjectFileProblem {
  readonly problem: ReadFailure | 'not-text'
  /** Where links lead. */
  readonly real?: string
}

interface ProjectFileLimits {
  /** The folder in which the file must be. */
  readonly within?: string
  readonly maxBytes: number
}

/** Reads a text file that the model did not ask for: instructions, settings, commands, attachments. */
export function readProjectText(
  path: string,
  limits: ProjectFileLimits,
): { readonly text: string; readonly isCut: boolean } | ProjectFileProblem {
  const content = readProjectBytes(path, limits)
  if ('problem' in content) return content
  const { bytes, isCut } = content
  if (bytes.includes(0)) return { problem: 'not-text' }
  // A character that was cut in two is left out.
  return { text: new TextDecoder().decode(bytes, { stream: isCut }), isCut }
}

/** The same for a file that need not be text. */
export function readProjectBytes(path: string, { within, maxBytes }: ProjectFileLimits): FileReadResult {
  const isSecretPath = (secretTestCache ??= createSecretFileTest())
  return readRegularFile(path, {
    maxBytes,
    ...defined({ within }),
    // Files of git are not texts of the project, and URLs in them may contain keys.
    isRefused: (real, folder) => isSecretPath(real, folder ?? '') || /\/\.git\//.test(real.slice(folder?.length ?? 0)),
  })
}

let secretTestCache: ReturnType<typeof createSecretFileTest> | undefined

/** The problem as a clause, to stand after a colon. */
export function describeFileProblem({ problem, real = '' }: ProjectFileProblem): string {
  return FILE_PROBLEM_TEXTS[problem](abbreviateHome(real))
}

const FILE_PROBLEM_TEXTS: Readonly<Record<ProjectFileProblem['problem'], (target: string) => string>> = {
  missing: () => 'no such file',
  outside: (target) => `it is a link out of the folder, to ${target}`,
  refused: (target) => `it is a link to a file that usually contains secrets, ${target}`,
  'not-ordinary': () => 'not a regular file',
  unreadable: () => 'the file cannot be read',
  'not-text': () => 'not a text file',
}
