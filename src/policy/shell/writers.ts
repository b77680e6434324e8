import { nameOf } from './command.ts'
import type { Word } from './word.ts'

/** The files that a command writes by its arguments, as far as they can be told. */
export function writtenBy(words: readonly Word[]): Word[] {
  const [first, ...args] = words
  const name = nameOf(first?.guess ?? '')
  const operands = args.filter(({ guess }) => !guess.startsWith('-'))
  const named = [
    ...valuesOf(args, OUTPUT),
    ...(name === 'tar' ? valuesOf(args, /^(?:-C|--directory|-x?f|--file)$/) : []),
  ]
  if (ALL.has(name) || (IN_PLACE.has(name) && args.some(({ guess }) => /^(?:-[a-zA-Z]*i|--in-place)/.test(guess)))) {
    return [...named, ...operands]
  }
  if (LAST.has(name)) return [...named, ...operands.slice(-1), ...valuesOf(args, /^(?:-t|--target-directory)$/)]
  if (name === 'dd') return args.flatMap((word) => (word.guess.startsWith('of=') ? [cut(word, 3)] : []))
  if (name === 'uniq' || name === 'xxd') return [...named, ...operands.slice(1)]
  if (name === 'unzip') return valuesOf(args, /^-d$/)
  if (name === 'find') return valuesOf(args, /^-f(?:print0?|printf|ls)$/)
  if (name === 'split' || name === 'csplit') return operands.slice(-1)
  if (name === 'git' && /^(?:mv|rm|init|clone)$/.test(operands[0]?.guess ?? '')) return operands.slice(1)
  return named
}

/** Programs that write, change or remove every file they name. */
const ALL: ReadonlySet<string> = new Set(
  (
    'tee touch rm rmdir unlink mv chmod chown chgrp chattr setfattr setfacl truncate mkdir mkfifo mknod shred ed ex vi vim ' +
    'nvim nano emacs sponge patch rename wipe srm'
  ).split(' '),
)
/** Programs that write the last file they name. */
const LAST: ReadonlySet<string> = new Set(['cp', 'ln', 'install', 'rsync', 'scp', 'link', 'pax', 'cpio'])
/** Programs that change files with `-i`. */
const IN_PLACE: ReadonlySet<string> = new Set(['sed', 'gsed', 'perl', 'ruby', 'awk', 'gawk'])
/** By custom, where a program writes to. */
const OUTPUT =
  /^(?:-o|-O|--output|--output-file|--output-document|--out|--out-file|--logfile|--output-directory|--outdir)$/

/** The values of options, in the next word or after `=`, or right behind a letter. */
function valuesOf(args: readonly Word[], option: RegExp): Word[] {
  return args.flatMap((word, at) => {
    const { guess } = word
    if (option.test(guess)) return args.slice(at + 1, at + 2)
    const equals = guess.indexOf('=')
    if (equals > 0 && option.test(guess.slice(0, equals))) return [cut(word, equals + 1)]
    return /^-[a-zA-Z]./.test(guess) && option.test(guess.slice(0, 2)) ? [cut(word, 2)] : []
  })
}

function cut(word: Word, from: number): Word {
  return { ...word, guess: word.guess.slice(from) }
}
