import { basename, dirname, join, resolve } from 'node:path'
import type { JsonObject } from '../../model/json.ts'
import type { Disk } from '../../policy/disk.ts'
import { folderOf, judgePlace, type Places } from '../../policy/path/place.ts'
import { diskWith } from './policy-disk.ts'
import { type Answer, type Ground, stepsIn, textIn, wordIn } from './policy-line.ts'

/** Judges a path for a file tool: `in`, `out`, `protected` (a person must agree) or `reject` (no path at all). */
export function checkPath(line: JsonObject, ground: Ground): Answer {
  // What happens between the check and the use is met by the second judgement, when the file is opened.
  const before = ['base', 'setup'].flatMap((key) => stepsIn(line, key))
  const moments = [before, [...before, ...stepsIn(line, 'race')]]
  const place = (path: string) => placeIn(path, ground.folder)
  const answers = moments.flatMap((steps) => {
    const disk = diskWith(steps, place, ground.fill)
    const paths = [textIn(line, 'path'), ...(typeof line['to'] === 'string' ? [line['to']] : [])]
    return paths.map((path) => judge(ground.fill(path), line, disk, ground))
  })
  return (
    ORDER.map((verdict) => answers.find((answer) => answer.verdict === verdict)).find(Boolean) ?? { verdict: 'reject' }
  )
}

const ORDER = ['out', 'protected', 'reject', 'in']

const WRITES: ReadonlySet<string> = new Set(['write', 'edit', 'delete', 'rename'])

function judge(given: string, line: JsonObject, disk: Disk, ground: Ground): Answer {
  const operation = wordIn(line['operation']) || 'read'
  const need = WRITES.has(operation) ? 'write' : 'read'
  const places = ground.places({
    disk,
    ...rootsIn(line, ground),
    platform: wordIn(line['platform']) || process.platform,
  })
  const path = operation === 'glob' ? given.replace(/[^/]*[*?[{][^]*$/, '') : given
  const { kind, path: real, why, rule } = judgePlace(atLink(path, operation, disk, ground), need, places, ground.folder)
  if (kind === 'reject') return { verdict: 'reject', why, rule }
  const roots = need === 'write' ? places.folders : [...places.folders, ...(places.readFolders ?? [])]
  if (folderOf(real, roots, disk) === undefined) {
    return { verdict: 'out', why: `${real} is outside the workspace.`, rule: 'outside the workspace' }
  }
  if (kind !== 'in') return { verdict: 'protected', why, rule }
  if (operation === 'glob') return glob(line, disk, ground) ?? { verdict: 'in', why, rule }
  const found = disk.kind(real)
  const isWrong = found === 'other' || (found === 'folder' && (operation === 'read' || operation === 'write'))
  return isWrong
    ? { verdict: 'reject', why: `${real} is no ordinary file.`, rule: 'what is there' }
    : { verdict: 'in', why, rule }
}

/** Deleting and moving a link touches the link, not what it leads to. */
function atLink(path: string, operation: string, disk: Disk, { folder }: Ground): string {
  if (operation !== 'delete' && operation !== 'rename') return path
  const full = resolve(folder, path)
  return join(disk.real(dirname(full)) ?? dirname(full), basename(full))
}

/** A search follows no links: what lies behind one that leads out is left out. */
function glob(line: JsonObject, disk: Disk, ground: Ground): Answer | undefined {
  const links = stepsIn(line, 'setup').filter(({ op, path }) => op === 'symlink' && path.startsWith('ws/'))
  const out = links.find(
    ({ path }) => folderOf(disk.real(placeIn(path, ground.folder)) ?? '/', [ground.folder], disk) === undefined,
  )
  return (
    out && {
      verdict: 'out',
      why: `What lies behind ${out.path} is outside, and is left out.`,
      rule: 'outside the workspace',
    }
  )
}

/** In these cases the workspace is called `ws`, beside the other folders. */
function placeIn(path: string, folder: string): string {
  return path === 'ws' || path.startsWith('ws/') ? join(folder, path.slice(3)) : join(dirname(folder), path)
}

function rootsIn(line: JsonObject, { folder }: Ground): Partial<Places> {
  const name = (root: string) => placeIn(root.replace(/:ro$/, ''), folder)
  const roots = Array.isArray(line['roots']) ? line['roots'].map(String) : undefined
  if (!roots) return typeof line['root'] === 'string' ? { folders: [folder, name(line['root'])] } : {}
  return {
    folders: roots.filter((root) => !root.endsWith(':ro')).map(name),
    readFolders: roots.filter((root) => root.endsWith(':ro')).map(name),
  }
}
