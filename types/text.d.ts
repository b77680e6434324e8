/** A Markdown file imported by a source is its text: the bundler puts it into the output. */
declare module '*.md' {
  const text: string
  export default text
}
