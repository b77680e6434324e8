import { dirname, join, resolve } from 'node:path'
import { defined } from '../../model/defined.ts'
import { expandHome, realPathOrSelf } from '../paths/folders.ts'
import { describeFileProblem, readProjectText } from '../paths/project-file.ts'

export type InstructionsFile = Readonly<Record<'path' | 'text', string>>

export type InstructionsReader = ReturnType<typeof createInstructionsReader>

interface InstructionsLimits {
  /** The folder in which the file must be; without it, links may lead anywhere. */
  readonly within?: string
  /** The folder in which files must be that it imports by `@path`. Without it, nothing is imported. */
  readonly importsWithin?: string
}

const MAX_INSTRUCTIONS_CHARS = 40_000

/** All imported files together, so that a project cannot fill the context window with them. */
const MAX_IMPORT_CHARS = 100_000
const MAX_IMPORTS = 40
const MAX_IMPORT_DEPTH = 5

/** Collects instructions files, each once, with the files that they import. */
export function createInstructionsReader() {
  const files: InstructionsFile[] = []
  const notices: string[] = []
  const added = new Set<string>()
  let importChars = 0
  let importCount = 0

  function read(path: string, { within }: InstructionsLimits): InstructionsFile | undefined {
    const found = readProjectText(path, { maxBytes: MAX_INSTRUCTIONS_CHARS * 4, ...defined({ within }) })
    if ('problem' in found) {
      if (found.problem !== 'missing') notices.push(`${path} is not used: ${describeFileProblem(found)}.`)
      return undefined
    }
    const { text, isCut } = found
    const isLong = isCut || text.length > MAX_INSTRUCTIONS_CHARS
    return { path, text: isLong ? `${text.slice(0, MAX_INSTRUCTIONS_CHARS)}\n[cut here]` : text }
  }

  function addText(path: string, text: string, limits: InstructionsLimits, depth = 0): void {
    const real = realPathOrSelf(path)
    if (text.trim() === '' || added.has(real)) return
    added.add(real)
    files.push({ path, text })
    const { importsWithin } = limits
    if (importsWithin === undefined || depth >= MAX_IMPORT_DEPTH) return
    for (const name of findImports(text)) addImport(path, name, importsWithin, depth + 1)
  }

  /** A name that is no file is a word with an @ before it. */
  function addImport(importer: string, name: string, importsWithin: string, depth: number): void {
    const path = resolve(dirname(importer), expandHome(name))
    if (added.has(realPathOrSelf(path))) return
    const found = readProjectText(path, { maxBytes: MAX_INSTRUCTIONS_CHARS * 4, within: importsWithin })
    if ('problem' in found) {
      const reason = found.problem === 'outside' ? `it is outside of ${importsWithin}` : describeFileProblem(found)
      if (found.problem === 'outside' || found.problem === 'refused')
        notices.push(`@${name} in ${importer} is not imported: ${reason}.`)
      return
    }
    importCount++
    importChars += found.text.length
    if (importCount > MAX_IMPORTS || importChars > MAX_IMPORT_CHARS) {
      if (importCount === MAX_IMPORTS + 1 || importChars - found.text.length <= MAX_IMPORT_CHARS)
        notices.push(`@${name} in ${importer} is not imported: the imported files are too long or too many.`)
      return
    }
    addText(path, found.text.slice(0, MAX_INSTRUCTIONS_CHARS), { importsWithin }, depth)
  }

  function addFile(path: string, limits: InstructionsLimits): 'missing' | 'found' {
    const before = notices.length
    const file = read(path, limits)
    if (file) addText(file.path, file.text, limits)
    return file || notices.length > before ? 'found' : 'missing'
  }

  return {
    files,
    notices,
    read,
    addFile,
    addText,
    /** The files of one folder. Is there any? */
    addFolder(directory: string, limits: InstructionsLimits): boolean {
      const agents = addFile(join(directory, 'AGENTS.md'), limits)
      const gemini = addFile(join(directory, 'GEMINI.md'), limits)
      // Where a project has both, they say the same.
      const claude = agents === 'missing' ? addFile(join(directory, 'CLAUDE.md'), limits) : 'missing'
      return [agents, gemini, claude].includes('found')
    },
  }
}

/** The paths behind an @, outside of code. */
function findImports(text: string): string[] {
  const prose = text.replaceAll(/^(?<fence>```+|~~~+)[^]*?^\k<fence>/gm, '').replaceAll(/`[^`\n]*`/g, '')
  const names = [...prose.matchAll(/(?<=^|\s)@(?<name>[^\s@`"']+)/gm)].map(({ groups }) =>
    (groups?.['name'] ?? '').replace(/[.,;:!?)]+$/, ''),
  )
  return [...new Set(names)].filter((name) => name !== '')
}
