import { posix } from 'node:path'
import { indexEntries } from '../../../model/git-index.ts'
import { type Disk, NO_DISK } from '../../disk.ts'
import { isSecretPath } from '../../path/below.ts'
import { isWithin, type Places } from '../../path/place.ts'
import { type GivenWords, hasOption } from './form.ts'
import { repositoriesOf } from './repository.ts'

/**
 * Says which file with secrets git would show: one that is tracked, and not left out by the paths that were given. What was
 * tracked only in the past is not known; attributes keep git from showing that, unless an option says otherwise.
 */
export function trackedSecret(given: GivenWords, folder: string, places: Places): string | undefined {
  const { disk = NO_DISK } = places
  // What was stashed may hold files that were never tracked.
  if (given.operands.some((word) => /stash/.test(word))) return 'what was stashed may hold secrets'
  if (hasOption(given, '-a', '--text', '--binary')) return 'it would show what secret files of the past hold'
  for (const { top, own } of repositoriesOf(folder, disk)) {
    const limits = limitsOf(given, folder, top, disk)
    const shared = (disk.list(own) ?? []).filter(({ name }) => name.startsWith('sharedindex.'))
    for (const name of ['index', ...shared.map((entry) => entry.name)]) {
      const bytes = disk.read(posix.join(own, name))
      const entries = bytes ? indexEntries(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)) : []
      if (!entries) return 'the index of the repository is not understood'
      const secret = entries
        .map(({ name: path }) => posix.join(top, path.toString('utf8')))
        .find((path) => (limits?.some((limit) => isWithin(path, limit)) ?? true) && isSecretPath(path, places))
      if (secret !== undefined) return `it may show ${secret}, which usually holds secrets`
    }
  }
  return undefined
}

/** The paths that git limits itself to, counted as git counts them; nothing if it may show everything. */
function limitsOf(
  { after, operands, paths }: GivenWords,
  folder: string,
  top: string,
  disk: Disk,
): readonly string[] | undefined {
  if (after) {
    // Before `--` stand only revisions. A tree among them (`HEAD:src`) gives the paths another beginning.
    const isPlain = after.length > 0 && !operands.some((word) => word.includes(':'))
    return isPlain && after.every(isLiteral) ? after.map((word) => posix.resolve(folder, word)) : undefined
  }
  if (paths.some((word) => word.includes(':'))) {
    // `HEAD:src` is a file or a tree, from the top of the repository; `HEAD^{/fix: it}` is a commit.
    const named = paths.map((word) => /^[^:{}]+:([^:]+)$/.exec(word)?.[1])
    const known = named.filter((word) => word !== undefined)
    if (known.length < named.length) return undefined
    return known.map((word) => posix.resolve(/^\.\.?(?:\/|$)/.test(word) ? folder : top, word))
  }
  const named = paths.filter((word) => disk.kind(posix.resolve(folder, word)))
  return named.length > 0 && named.every(isLiteral) ? named.map((word) => posix.resolve(folder, word)) : undefined
}

function isLiteral(word: string): boolean {
  return !/[*?[\\]/.test(word)
}
