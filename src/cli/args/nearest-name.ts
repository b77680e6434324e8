import { editDistance } from '../../model/edit-distance.ts'

/** The name that a mistyped word was probably meant for; undefined if two names are equally near. */
export function findNearestName(word: string, names: readonly string[]): string | undefined {
  const [first, second] = listNearestNames(word, names)
  return second === undefined ? first : undefined
}

/** The names with the fewest typing errors: at most two, and fewer than half of the letters. */
export function listNearestNames(word: string, names: readonly string[]): string[] {
  const near = names
    .map((name) => ({ name, errors: editDistance(word.toLowerCase(), name.toLowerCase(), { swaps: true }) }))
    .filter(({ name, errors }) => errors <= 2 && errors < Math.min(word.length, name.length) / 2)
  const fewest = Math.min(...near.map(({ errors }) => errors))
  return near.flatMap(({ name, errors }) => (errors === fewest ? [name] : []))
}
