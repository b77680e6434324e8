import type { Files, FolderEntry } from '../../host/host.ts'
import type { IgnoreFile } from './ignore-file.ts'

export interface IgnoreOptions {
  readonly git: boolean
  readonly gemini: boolean
}

export interface IgnoreRules {
  /** Version control folders are always ignored where git counts. */
  ignores(path: string, isFolder: boolean): boolean
  /** Can an entry of this name be ignored? A faster test, and mostly false. */
  mayIgnore(name: string): boolean
  /** The rules of a folder below: these, and those of its own .gitignore. */
  enter(path: string, entries: readonly Pick<FolderEntry, 'name'>[]): IgnoreRules | Promise<IgnoreRules>
}

export const NO_IGNORE_RULES: IgnoreRules = {
  ignores: () => false,
  mayIgnore: () => false,
  enter: () => NO_IGNORE_RULES,
}

/** Below an ignored folder everything is ignored. */
const ALL_IGNORED: IgnoreRules = { ignores: () => true, mayIgnore: () => true, enter: () => ALL_IGNORED }

/** The rules of a folder, from all ignore files between the top folder and it. */
export async function loadIgnoreRules(
  files: Files,
  top: string,
  folder: string,
  options: IgnoreOptions,
  knownEntries?: readonly FolderEntry[],
): Promise<IgnoreRules> {
  if (!options.git && !options.gemini) return NO_IGNORE_RULES
  let rules = createIgnoreRules(files, options, [], [])
  const below = folder === top ? [] : folder.slice(top.length + 1).split('/')
  for (let at = 0; at <= below.length; at++) {
    const path = [top, ...below.slice(0, at)].join('/')
    if (at > 0 && rules.ignores(path, true)) return ALL_IGNORED
    rules = await rules.enter(
      path,
      at === below.length && knownEntries ? knownEntries : await listControlFiles(files, path, options),
    )
  }
  return rules
}

export async function isPathIgnored(files: Files, top: string, path: string, options: IgnoreOptions): Promise<boolean> {
  const steps = path.slice(top.length + 1).split('/')
  let rules = createIgnoreRules(files, options, [], [])
  let folder = top
  for (const [at, step] of steps.entries()) {
    rules = await rules.enter(folder, await listControlFiles(files, folder, options))
    folder = `${folder}/${step}`
    if (rules.ignores(folder, at < steps.length - 1)) return true
  }
  return false
}

interface IgnoreLevel {
  /** The folder that its patterns are relative to, with a slash. */
  readonly base: string
  readonly file: IgnoreFile
}

function createIgnoreRules(
  files: Files,
  options: IgnoreOptions,
  git: readonly IgnoreLevel[],
  gemini: readonly IgnoreLevel[],
): IgnoreRules {
  const all = [...git, ...gemini]
  const rules: IgnoreRules = {
    ignores(path, isFolder) {
      if (options.git && isFolder && path.endsWith('/.git')) return true
      return isIgnoredByLevels(git, path, isFolder) || isIgnoredByLevels(gemini, path, isFolder)
    },
    mayIgnore: (name) => (options.git && name === '.git') || all.some(({ file }) => file.mayMatch(name)),
    enter(path, entries) {
      const names = findControlNames(entries)
      const isRepository = names.has('.git')
      const wants =
        (options.git && (names.has('.gitignore') || isRepository)) || (options.gemini && names.has(GEMINI_IGNORE_FILE))
      if (!wants) return rules
      return enter(path, names, isRepository)
    },
  }

  async function enter(path: string, names: ReadonlySet<string>, isRepository: boolean): Promise<IgnoreRules> {
    // The rules above do not apply inside of a nested repository.
    const gitLevels: IgnoreLevel[] = options.git && !isRepository ? [...git] : []
    const add = async (list: IgnoreLevel[], file: string): Promise<void> => {
      const level = await loadIgnoreFile(files, path, file)
      if (level) list.push(level)
    }
    if (options.git && isRepository) await add(gitLevels, '.git/info/exclude')
    if (options.git && names.has('.gitignore')) await add(gitLevels, '.gitignore')
    const geminiLevels = [...gemini]
    if (options.gemini && names.has(GEMINI_IGNORE_FILE)) await add(geminiLevels, GEMINI_IGNORE_FILE)
    return createIgnoreRules(files, options, gitLevels, geminiLevels)
  }

  return rules
}

const GEMINI_IGNORE_FILE = '.geminiignore'
const GIT_CONTROL_NAMES = ['.git', '.gitignore']
const IGNORE_CONTROL_NAMES: ReadonlySet<string> = new Set([...GIT_CONTROL_NAMES, GEMINI_IGNORE_FILE])

/** A large folder takes much longer to list. */
async function listControlFiles(
  files: Files,
  folder: string,
  { git, gemini }: IgnoreOptions,
): Promise<Pick<FolderEntry, 'name'>[]> {
  const names = [...(git ? GIT_CONTROL_NAMES : []), ...(gemini ? [GEMINI_IGNORE_FILE] : [])]
  const infos = await Promise.all(names.map((name) => files.info(`${folder}/${name}`).catch(() => undefined)))
  return names.flatMap((name, at) => (infos[at] ? [{ name }] : []))
}

function findControlNames(entries: readonly Pick<FolderEntry, 'name'>[]): ReadonlySet<string> {
  let found: Set<string> | undefined
  for (const { name } of entries)
    if (name.startsWith('.') && IGNORE_CONTROL_NAMES.has(name)) (found ??= new Set()).add(name)
  return found ?? NO_NAMES
}

const NO_NAMES: ReadonlySet<string> = new Set()

/** The innermost file that matches decides. */
function isIgnoredByLevels(levels: readonly IgnoreLevel[], path: string, isFolder: boolean): boolean {
  for (let at = levels.length - 1; at >= 0; at--) {
    const { base, file } = levels[at] as IgnoreLevel
    if (!path.startsWith(base)) continue
    const { ignored, unignored } = file.test(path.slice(base.length) + (isFolder ? '/' : ''))
    if (ignored || unignored) return ignored
  }
  return false
}

async function loadIgnoreFile(files: Files, folder: string, name: string): Promise<IgnoreLevel | undefined> {
  const path = `${folder}/${name}`
  // A file that cannot be read is not applied.
  const bytes = await files.read(path, { from: 0, bytes: MAX_IGNORE_FILE_BYTES }).catch(() => undefined)
  if (!bytes) return undefined
  const { parseIgnoreFile } = await import('./ignore-file.ts')
  return { base: `${folder}/`, file: parseIgnoreFile(Buffer.from(bytes).toString('utf8')) }
}

const MAX_IGNORE_FILE_BYTES = 1 << 20
