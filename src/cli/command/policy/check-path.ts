import { basename, dirname, join, resolve } from 'node:path'
import { type JsonObject, stringOrEmpty } from '../../../model/json.ts'
import type { DiskView } from '../../../policy/disk-view.ts'
import { findContainingFolder, classifyPath, type PathContext } from '../../../policy/path/classify-path.ts'
import { createVirtualDisk } from './virtual-disk.ts'
import { type PolicyCheckResult, type PolicyCheckContext, readFixtureSteps, readCaseText } from './check-case.ts'

/** Checks a path for a file tool: `in`, `out`, `protected` (needs approval) or `reject` (not a valid path). */
export function checkPathCase(checkCase: JsonObject, context: PolicyCheckContext): PolicyCheckResult {
  // A change between check and use is caught by the second check, when the file is opened.
  const before = ['base', 'setup'].flatMap((key) => readFixtureSteps(checkCase, key))
  const stepLists = [before, [...before, ...readFixtureSteps(checkCase, 'race')]]
  const toPath = (path: string) => toWorkspacePath(path, context.folder)
  const results = stepLists.flatMap((steps) => {
    const disk = createVirtualDisk(steps, toPath, context.expandPlaceholders)
    const paths = [readCaseText(checkCase, 'path'), ...(typeof checkCase['to'] === 'string' ? [checkCase['to']] : [])]
    return paths.map((path) => judgePath(context.expandPlaceholders(path), checkCase, disk, context))
  })
  const byPriority = ['out', 'protected', 'reject', 'in'].flatMap((verdict) => {
    return results.filter((result) => result.verdict === verdict)
  })
  return byPriority[0] ?? { verdict: 'reject' }
}

const WRITE_OPERATIONS: ReadonlySet<string> = new Set(['write', 'edit', 'delete', 'rename'])

function judgePath(raw: string, checkCase: JsonObject, disk: DiskView, context: PolicyCheckContext): PolicyCheckResult {
  const operation = stringOrEmpty(checkCase['operation']) || 'read'
  const access = WRITE_OPERATIONS.has(operation) ? 'write' : 'read'
  const pathContext = context.createPathContext({
    disk,
    ...readRoots(checkCase, context),
    platform: stringOrEmpty(checkCase['platform']) || process.platform,
  })
  const path = operation === 'glob' ? raw.replace(/[^/]*[*?[{][^]*$/, '') : raw
  const affectedPath = resolveParentOnly(path, operation, disk, context)
  const { kind, path: real, why, rule } = classifyPath(affectedPath, access, pathContext, context.folder)
  if (kind === 'reject') return { verdict: 'reject', why, rule }
  const roots = access === 'write' ? pathContext.folders : [...pathContext.folders, ...(pathContext.readFolders ?? [])]
  if (findContainingFolder(real, roots, disk) === undefined) {
    return { verdict: 'out', why: `${real} is outside the workspace.`, rule: 'outside the workspace' }
  }
  if (kind !== 'in') return { verdict: 'protected', why, rule }
  if (operation === 'glob') return judgeGlob(checkCase, disk, context) ?? { verdict: 'in', why, rule }
  const found = disk.kind(real)
  const isWrong = found === 'other' || (found === 'folder' && (operation === 'read' || operation === 'write'))
  return isWrong
    ? { verdict: 'reject', why: `${real} is not a regular file.`, rule: 'file type' }
    : { verdict: 'in', why, rule }
}

/** Deleting and moving a link affects the link, not its target. */
function resolveParentOnly(path: string, operation: string, disk: DiskView, { folder }: PolicyCheckContext): string {
  if (operation !== 'delete' && operation !== 'rename') return path
  const full = resolve(folder, path)
  return join(disk.realPath(dirname(full)) ?? dirname(full), basename(full))
}

/** A search follows no links out of the workspace. */
function judgeGlob(checkCase: JsonObject, disk: DiskView, context: PolicyCheckContext): PolicyCheckResult | undefined {
  const out = readFixtureSteps(checkCase, 'setup').find(({ op, path }) => {
    if (op !== 'symlink' || !path.startsWith('ws/')) return false
    const real = disk.realPath(toWorkspacePath(path, context.folder)) ?? '/'
    return findContainingFolder(real, [context.folder], disk) === undefined
  })
  if (!out) return undefined
  const why = `${out.path} is a link out of the workspace; searches skip it.`
  return { verdict: 'out', why, rule: 'outside the workspace' }
}

/** In these cases the workspace is called `ws`; other folders are beside it. */
function toWorkspacePath(path: string, folder: string): string {
  return path === 'ws' || path.startsWith('ws/') ? join(folder, path.slice(3)) : join(dirname(folder), path)
}

function readRoots(checkCase: JsonObject, { folder }: PolicyCheckContext): Partial<PathContext> {
  const name = (root: string) => toWorkspacePath(root.replace(/:ro$/, ''), folder)
  const roots = Array.isArray(checkCase['roots']) ? checkCase['roots'].map(String) : undefined
  if (!roots) return typeof checkCase['root'] === 'string' ? { folders: [folder, name(checkCase['root'])] } : {}
  return {
    folders: roots.filter((root) => !root.endsWith(':ro')).map(name),
    readFolders: roots.filter((root) => root.endsWith(':ro')).map(name),
  }
}
