import makeIgnore, { type Ignore } from 'ignore'

/** The rules of one ignore file. */
export type IgnoreFile = Pick<Ignore, 'test'>

/** Reads the text of a .gitignore file, or of one like it. */
export function readIgnoreFile(text: string): IgnoreFile {
  return makeIgnore({ allowRelativePaths: true }).add(text)
}
