import type { Files, FolderEntry } from '../../host/host.ts'
import type { IgnoreFile } from './ignore-file.ts'

/** Which ignore files count. */
export interface Respect {
  readonly git: boolean
  readonly gemini: boolean
}

/** What is ignored below a folder. */
export interface Rules {
  /** Is this entry of the folder ignored? Folders of version control itself always are, where git counts. */
  ignores(path: string, isFolder: boolean): boolean
  /** Could an entry of this name be ignored? Quicker to ask, and seldom so. */
  mayIgnore(name: string): boolean
  /** The rules in a folder below: the same, and those of its own .gitignore. */
  enter(path: string, entries: readonly FolderEntry[]): Rules | Promise<Rules>
}

/** Nothing is ignored. */
export const NO_RULES: Rules = { ignores: () => false, mayIgnore: () => false, enter: () => NO_RULES }

/** Below a folder that is ignored everything is, whatever rules say there. */
const ALL_IGNORED: Rules = { ignores: () => true, mayIgnore: () => true, enter: () => ALL_IGNORED }

/** The rules that hold in a folder, from all ignore files between the top folder and it. Its entries may be known already. */
export async function rulesFor(
  files: Files,
  top: string,
  folder: string,
  respect: Respect,
  known?: readonly FolderEntry[],
): Promise<Rules> {
  if (!respect.git && !respect.gemini) return NO_RULES
  let rules = makeRules(files, respect, [], [])
  const below = folder === top ? [] : folder.slice(top.length + 1).split('/')
  for (let at = 0; at <= below.length; at++) {
    const path = [top, ...below.slice(0, at)].join('/')
    if (at > 0 && rules.ignores(path, true)) return ALL_IGNORED
    rules = await rules.enter(path, at === below.length && known ? known : await files.list(path))
  }
  return rules
}

/** Is this file ignored, because of itself or of a folder that it is in? */
export async function isIgnored(files: Files, top: string, path: string, respect: Respect): Promise<boolean> {
  const steps = path.slice(top.length + 1).split('/')
  let rules = makeRules(files, respect, [], [])
  let folder = top
  for (const [at, step] of steps.entries()) {
    rules = await rules.enter(folder, await files.list(folder))
    folder = `${folder}/${step}`
    if (rules.ignores(folder, at < steps.length - 1)) return true
  }
  return false
}

interface Level {
  /** The folder that its patterns are relative to, with a slash. */
  readonly base: string
  readonly file: IgnoreFile
}

function makeRules(files: Files, respect: Respect, git: readonly Level[], gemini: readonly Level[]): Rules {
  const all = [...git, ...gemini]
  const rules: Rules = {
    ignores(path, isFolder) {
      if (respect.git && isFolder && path.endsWith('/.git')) return true
      return verdict(git, path, isFolder) || verdict(gemini, path, isFolder)
    },
    mayIgnore: (name) => (respect.git && name === '.git') || all.some(({ file }) => file.mayMean(name)),
    enter(path, entries) {
      const names = namesAbout(entries)
      const isRepository = names.has('.git')
      const wants = (respect.git && (names.has('.gitignore') || isRepository)) || (respect.gemini && names.has(GEMINI))
      if (!wants) return rules
      return enter(path, names, isRepository)
    },
  }

  async function enter(path: string, names: ReadonlySet<string>, isRepository: boolean): Promise<Rules> {
    // A repository inside another one answers to nobody above it.
    const own: Level[] = respect.git && !isRepository ? [...git] : []
    const add = async (list: Level[], file: string): Promise<void> => {
      const level = await load(files, path, file)
      if (level) list.push(level)
    }
    if (respect.git && isRepository) await add(own, '.git/info/exclude')
    if (respect.git && names.has('.gitignore')) await add(own, '.gitignore')
    const more = [...gemini]
    if (respect.gemini && names.has(GEMINI)) await add(more, GEMINI)
    return makeRules(files, respect, own, more)
  }

  return rules
}

const GEMINI = '.geminiignore'
/** The names that change the rules of a folder. */
const ABOUT: ReadonlySet<string> = new Set(['.git', '.gitignore', GEMINI])

function namesAbout(entries: readonly FolderEntry[]): ReadonlySet<string> {
  let found: Set<string> | undefined
  for (const { name } of entries) if (name.startsWith('.') && ABOUT.has(name)) (found ??= new Set()).add(name)
  return found ?? NONE
}

const NONE: ReadonlySet<string> = new Set()

/** The innermost file that says something has the word. */
function verdict(levels: readonly Level[], path: string, isFolder: boolean): boolean {
  for (let at = levels.length - 1; at >= 0; at--) {
    const { base, file } = levels[at] as Level
    if (!path.startsWith(base)) continue
    const { ignored, unignored } = file.test(path.slice(base.length) + (isFolder ? '/' : ''))
    if (ignored || unignored) return ignored
  }
  return false
}

async function load(files: Files, folder: string, name: string): Promise<Level | undefined> {
  const path = `${folder}/${name}`
  // A file that cannot be read, or leads elsewhere, rules nothing.
  const bytes = await files.read(path, { from: 0, bytes: MAX_FILE }).catch(() => undefined)
  if (!bytes) return undefined
  const { readIgnoreFile } = await import('./ignore-file.ts')
  return { base: `${folder}/`, file: readIgnoreFile(Buffer.from(bytes).toString('utf8')) }
}

const MAX_FILE = 1 << 20
