/**
 * Does a program name look like another? Checks for mixed scripts, lookalike letters, and wide or mathematical forms.
 */
export function isConfusableName(name: string): boolean {
  if (/^[\x20-\x7E]*$/.test(name)) return false
  if (name.normalize('NFKC') !== name || /\p{M}/u.test(name)) return true
  const letters = name.match(/\p{L}/gu) ?? []
  const others = letters.filter((letter) => !/[A-Za-z]/.test(letter))
  if (others.length === 0) return false
  return (
    others.length < letters.length ||
    others.every((letter) => /\p{Script=Latin}/u.test(letter) || LATIN_LOOKALIKES.has(letter))
  )
}

/** Cyrillic, Greek and Armenian letters that look like Latin ones. */
const LATIN_LOOKALIKES: ReadonlySet<string> = new Set('аеорсухіјѕһԁԛԝӏвкмнтгпьыΑΒΕΖΗΙΚΜΝΟΡΤΥΧαγικνοορτυωսոցօ')
