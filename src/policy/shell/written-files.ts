import { getPathBaseName } from './shell-command.ts'
import type { ShellWord } from './shell-word.ts'

/** Returns the files that a command writes according to its arguments, as far as known. */
export function findWrittenFiles(words: readonly ShellWord[]): ShellWord[] {
  const [first, ...args] = words
  const name = getPathBaseName(first?.guess ?? '')
  const operands = args.filter(({ guess }) => !guess.startsWith('-'))
  const named = [
    ...listOptionValues(args, OUTPUT_OPTION),
    ...(name === 'tar' ? listOptionValues(args, /^(?:-C|--directory|-x?f|--file)$/) : []),
  ]
  if (
    PROGRAMS_WRITING_ALL_OPERANDS.has(name) ||
    (PROGRAMS_EDITING_IN_PLACE.has(name) && args.some(({ guess }) => /^(?:-[a-zA-Z]*i|--in-place)/.test(guess)))
  ) {
    return [...named, ...operands]
  }
  if (PROGRAMS_WRITING_LAST_OPERAND.has(name))
    return [...named, ...operands.slice(-1), ...listOptionValues(args, /^(?:-t|--target-directory)$/)]
  if (name === 'dd') return args.flatMap((word) => (word.guess.startsWith('of=') ? [dropPrefix(word, 3)] : []))
  if (name === 'uniq' || name === 'xxd') return [...named, ...operands.slice(1)]
  if (name === 'unzip') return listOptionValues(args, /^-d$/)
  if (name === 'find') return listOptionValues(args, /^-f(?:print0?|printf|ls)$/)
  if (name === 'split' || name === 'csplit') return operands.slice(-1)
  if (name === 'git' && /^(?:mv|rm|init|clone)$/.test(operands[0]?.guess ?? '')) return operands.slice(1)
  return named
}

/** Programs that write, change or remove all their operands. */
const PROGRAMS_WRITING_ALL_OPERANDS: ReadonlySet<string> = new Set(
  (
    'tee touch rm rmdir unlink mv chmod chown chgrp chattr setfattr setfacl truncate mkdir mkfifo mknod shred ed ex vi vim ' +
    'nvim nano emacs sponge patch rename wipe srm'
  ).split(' '),
)
const PROGRAMS_WRITING_LAST_OPERAND: ReadonlySet<string> = new Set('cp ln install rsync scp link pax cpio'.split(' '))
/** Programs that change files with `-i`. */
const PROGRAMS_EDITING_IN_PLACE: ReadonlySet<string> = new Set(['sed', 'gsed', 'perl', 'ruby', 'awk', 'gawk'])
const OUTPUT_OPTION =
  /^(?:-o|-O|--output|--output-file|--output-document|--out|--out-file|--logfile|--output-directory|--outdir)$/

/** Option values in the next word, after `=`, or directly after a letter. */
function listOptionValues(args: readonly ShellWord[], option: RegExp): ShellWord[] {
  return args.flatMap((word, at) => {
    const { guess } = word
    if (option.test(guess)) return args.slice(at + 1, at + 2)
    const equals = guess.indexOf('=')
    if (equals > 0 && option.test(guess.slice(0, equals))) return [dropPrefix(word, equals + 1)]
    return /^-[a-zA-Z]./.test(guess) && option.test(guess.slice(0, 2)) ? [dropPrefix(word, 2)] : []
  })
}

function dropPrefix(word: ShellWord, from: number): ShellWord {
  return { ...word, guess: word.guess.slice(from) }
}
