import { posix } from 'node:path'
import { parseGitIndexEntries } from '../../../model/git-index.ts'
import { type DiskView, NO_DISK_VIEW } from '../../disk-view.ts'
import { isSecretPath } from '../../path/find-secrets.ts'
import { type PathContext } from '../../path/classify-path.ts'
import { type ParsedArguments, hasOption } from './harmless-command-spec.ts'
import { findRepositories } from './git-repository.ts'
import { isInsideFolder } from '../../../model/inside-folder.ts'

/**
 * Returns the first tracked file with secrets that git would show, given the path arguments. Files that were tracked
 * only in the past are unknown; attributes keep git from showing them, unless an option overrides that.
 */
export function findTrackedSecret(args: ParsedArguments, folder: string, pathContext: PathContext): string | undefined {
  const { disk = NO_DISK_VIEW } = pathContext
  // A stash may contain files that were never tracked.
  if (args.operands.some((word) => /stash/.test(word))) return 'what was stashed may hold secrets'
  if (hasOption(args, '-a', '--text', '--binary')) return 'it would show what secret files of the past hold'
  for (const { top, gitFolder } of findRepositories(folder, disk)) {
    const limits = listPathLimits(args, folder, top, disk)
    const shared = (disk.list(gitFolder) ?? []).filter(({ name }) => name.startsWith('sharedindex.'))
    for (const name of ['index', ...shared.map((entry) => entry.name)]) {
      const bytes = disk.read(posix.join(gitFolder, name))
      const entries = bytes ? parseGitIndexEntries(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)) : []
      if (!entries) return 'the index of the repository is not understood'
      const secret = entries
        .map(({ name: path }) => posix.join(top, path.toString('utf8')))
        .find(
          (path) => (limits?.some((limit) => isInsideFolder(path, limit)) ?? true) && isSecretPath(path, pathContext),
        )
      if (secret !== undefined) return `it may show ${secret}, which usually holds secrets`
    }
  }
  return undefined
}

/** Returns the paths to which git limits its output, or undefined if it may show everything. */
function listPathLimits(
  { afterDoubleDash, operands, paths }: ParsedArguments,
  folder: string,
  top: string,
  disk: DiskView,
): readonly string[] | undefined {
  if (afterDoubleDash) {
    // Before `--` there are only revisions. A tree among them (`HEAD:src`) changes the base of the paths.
    const isPlain = afterDoubleDash.length > 0 && !operands.some((word) => word.includes(':'))
    return isPlain && afterDoubleDash.every(isLiteralPath)
      ? afterDoubleDash.map((word) => posix.resolve(folder, word))
      : undefined
  }
  if (paths.some((word) => word.includes(':'))) {
    // `HEAD:src` is a file or a tree, relative to the top of the repository; `HEAD^{/fix: it}` is a commit.
    const named = paths.map((word) => /^[^:{}]+:([^:]+)$/.exec(word)?.[1])
    const known = named.filter((word) => word !== undefined)
    if (known.length < named.length) return undefined
    return known.map((word) => posix.resolve(/^\.\.?(?:\/|$)/.test(word) ? folder : top, word))
  }
  const named = paths.filter((word) => disk.kind(posix.resolve(folder, word)))
  return named.length > 0 && named.every(isLiteralPath) ? named.map((word) => posix.resolve(folder, word)) : undefined
}

function isLiteralPath(word: string): boolean {
  return !/[*?[\\]/.test(word)
}
