import { lstatSync, readdirSync, readlinkSync, realpathSync, statSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import { type FileReadResult, readRegularFile } from '../../host/files/regular-file.ts'
import { sha256Hex } from '../../host/files/sha256.ts'
import { isInsideFolder } from '../../model/inside-folder.ts'
import { objectOrEmpty, tryParseJson } from '../../model/json.ts'
import { tryOrUndefined } from '../../model/try-or-undefined.ts'
import { chooseCareful, findNamedFiles, isDataFile, type NamedFileUse } from './named-files.ts'

/**
 * The files of a project that can make something happen, by kind. This table is the one list of them: what stands in it
 * is shown before a folder is trusted, hashed when it is trusted, and asked about again when it changes.
 *
 * To add a kind or a path: one line here. To use such files, never read them directly:
 * - `isTrusted(folder, kind)` of `folder-trust.ts` is the check for a whole kind;
 * - `listTrustedFiles(folder, kind)` returns the paths that may be used (none if the folder is not trusted);
 * - `readTrustedText(folder, path)` reads one of them, and refuses a content that is not the one that was trusted. Use it at
 *   the time of use, so that a change during a session has no effect either.
 */
export const PROJECT_FILE_KINDS = {
  settings: { title: 'settings', paths: ['.dragoman'] },
  servers: { title: 'MCP servers', paths: ['.mcp.json'] },
  commands: {
    title: 'commands',
    paths: ['.dragoman/commands', '.claude/commands', '.gemini/commands', '.opencode/command', '.opencode/commands'],
  },
  skills: {
    title: 'skills',
    paths: [
      '.dragoman/skills',
      '.agents/skills',
      '.claude/skills',
      '.gemini/skills',
      '.codex/skills',
      '.opencode/skill',
      '.opencode/skills',
    ],
  },
  agents: {
    title: 'subagents',
    paths: ['.dragoman/agents', '.agents/agents', '.claude/agents', '.gemini/agents'],
  },
  hooks: {
    title: 'hooks',
    paths: [
      '.dragoman/hooks.json',
      '.dragoman/hooks',
      '.claude/settings.json',
      '.claude/settings.local.json',
      '.claude/hooks',
      '.gemini/settings.json',
      '.gemini/hooks',
      '.codex/hooks.json',
    ],
  },
} as const satisfies Readonly<Record<string, { readonly title: string; readonly paths: readonly string[] }>>

export type ProjectFileKind = keyof typeof PROJECT_FILE_KINDS

export interface ProjectFile {
  /** From the folder of the project. */
  readonly path: string
  readonly kind: ProjectFileKind
  /** The file that names this one, a program that it starts. */
  readonly namedBy?: string
  /** It holds data, and a hook may write it. */
  readonly isOutput?: true
}

/** More than this cannot be trusted. */
export const MAX_TRUSTED_FILES = 2000
const MAX_TRUSTED_BYTES = 16 * 2 ** 20

/** The files of a folder that need trust, or those of one kind. A folder that has none costs a few calls of `lstat`. */
export function listProjectFiles(folder: string, kind?: ProjectFileKind): ProjectFile[] {
  const present = TOP_LEVEL_NAMES.filter((name) => lstatSync(join(folder, name), { throwIfNoEntry: false }))
  if (present.length === 0) return []
  const real = tryOrUndefined(() => realpathSync(folder)) ?? folder
  const found = new Map<string, ProjectFileKind>()
  for (const [path, owner] of PATH_KINDS) {
    if (kind !== undefined && kind !== owner) continue
    if (!present.some((name) => path === name || path.startsWith(`${name}/`))) continue
    for (const file of listFilesBelow(join(folder, path), real)) {
      const name = relative(folder, file)
      const isOfKind = findKind(name) === owner && (!SHARED_SETTINGS.has(name) || hasHooks(file))
      if (isOfKind && !found.has(name)) found.set(name, owner)
    }
  }
  if (kind === undefined || kind === 'skills')
    for (const root of listNamedSkillFolders(folder))
      for (const file of listFilesBelow(join(folder, root), real)) {
        const name = relative(folder, file)
        if (!found.has(name)) found.set(name, 'skills')
      }
  const files = [...found].map(([path, one]): ProjectFile => ({ path, kind: one }))
  const uses = new Map<string, NamedFileUse>()
  const namers = new Map<string, ProjectFile>()
  for (const file of files.filter(({ path }) => path.endsWith('.json'))) {
    const { content } = readWithDigest(join(folder, file.path))
    // A file that is too large cannot be trusted, whatever it names.
    if (!('bytes' in content) || content.isCut) continue
    const text = content.bytes.toString('utf8')
    for (const [path, use] of findNamedFiles(folder, text, SHARED_SETTINGS.has(file.path))) {
      uses.set(path, chooseCareful(use, uses.get(path)))
      if (!found.has(path) && !namers.has(path)) namers.set(path, file)
    }
  }
  const named = [...namers].map(([path, namer]): ProjectFile => ({ path, kind: namer.kind, namedBy: namer.path }))
  return [...files, ...named].flatMap((file): ProjectFile[] => {
    const use = uses.get(file.path) ?? 'argument'
    if (use === 'started' || !(file.namedBy ?? HOOK_FOLDERS.test(file.path))) return [file]
    if (use === 'written') return []
    return isDataFile(join(folder, file.path)) ? [{ ...file, isOutput: true }] : [file]
  })
}

/** Here a script of a hook may write beside itself. */
const HOOK_FOLDERS = /^\.\w+\/hooks\//

/** The folders of skills that the settings of a project name: an npm package, or a folder of the project. */
export function listNamedSkillFolders(folder: string): string[] {
  const path = join(folder, '.dragoman', 'config.json')
  if (!lstatSync(path, { throwIfNoEntry: false })) return []
  const { content } = readWithDigest(path)
  const { skills } = objectOrEmpty('bytes' in content ? tryParseJson(content.bytes.toString('utf8')) : undefined)
  return (Array.isArray(skills) ? skills : []).flatMap((one: unknown) => {
    if (typeof one !== 'string' || one === '' || one.startsWith('~')) return []
    const name = relative(folder, resolve(folder, one))
    if (name === '' || name.startsWith('..')) return []
    const inPackage = join('node_modules', name, 'skills')
    return [statSync(join(folder, inPackage), { throwIfNoEntry: false }) ? inPackage : name]
  })
}

/** The content of such a file, and the hash that stands for it. Of a link, both its target and the content there count. */
export function readWithDigest(path: string): { readonly content: FileReadResult; readonly digest?: string } {
  const content = readRegularFile(path, { maxBytes: MAX_TRUSTED_BYTES })
  const hash = 'bytes' in content && !content.isCut ? sha256Hex(content.bytes) : undefined
  const target = tryOrUndefined(() => readlinkSync(path))
  const digest = target === undefined ? hash : sha256Hex(`link to ${target}\0${hash ?? 'nothing to read'}`)
  return { content, ...(digest !== undefined && { digest }) }
}

/** The longest path first: a file belongs to the kind that names it most exactly. */
const PATH_KINDS = Object.entries(PROJECT_FILE_KINDS)
  .flatMap(([kind, { paths }]) => paths.map((path) => [path, kind as ProjectFileKind] as const))
  .toSorted(([one], [other]) => other.length - one.length || (one < other ? -1 : 1))

const TOP_LEVEL_NAMES = [...new Set(PATH_KINDS.map(([path]) => path.split('/', 1)[0] ?? path))]

/** Settings of other agents: only the hooks in them have an effect here. */
const SHARED_SETTINGS = new Set(['.claude/settings.json', '.claude/settings.local.json', '.gemini/settings.json'])

function hasHooks(path: string): boolean {
  const { content } = readWithDigest(path)
  // A file that cannot be read is shown, and cannot be trusted. A name may be written with escapes.
  return !('bytes' in content) || /"hooks"|\\u/i.test(content.bytes.toString('utf8'))
}

function findKind(path: string): ProjectFileKind | undefined {
  return PATH_KINDS.find(([prefix]) => path === prefix || path.startsWith(`${prefix}/`))?.[1]
}

/** Links to folders are followed inside the project; a link that leads out of it stands for itself. */
function listFilesBelow(path: string, root: string, depth = 0): string[] {
  const info = lstatSync(path, { throwIfNoEntry: false })
  if (!info) return []
  const isFolder = info.isDirectory() || (info.isSymbolicLink() && leadsToFolderInside(path, root))
  if (!isFolder) return info.isFile() || info.isSymbolicLink() ? [path] : []
  if (depth > MAX_DEPTH) return [path]
  const names = tryOrUndefined(() => readdirSync(path).sort())
  // A folder that cannot be listed cannot be trusted either.
  if (!names) return [path]
  const files: string[] = []
  for (const name of names) {
    files.push(...listFilesBelow(join(path, name), root, depth + 1))
    if (files.length > MAX_TRUSTED_FILES) break
  }
  return files.slice(0, MAX_TRUSTED_FILES + 1)
}

/** Deeper than this only links that lead in a circle. */
const MAX_DEPTH = 16

function leadsToFolderInside(path: string, root: string): boolean {
  const real = tryOrUndefined(() => realpathSync(path))
  return (
    real !== undefined &&
    isInsideFolder(real, root) &&
    statSync(real, { throwIfNoEntry: false })?.isDirectory() === true
  )
}
