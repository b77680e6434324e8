/**
 * Text that is scanned, but not shown yet: white space, which is removed with the markup after it, and all text from the first
 * markup on. It is only appended to, so that a long text costs linear time.
 */
export function createHeldText() {
  let held = ''
  /** The markup in it; the last span has no end while the scanner is in it. */
  let spans: { readonly from: number; to?: number }[] = []
  let isTextBeforeShown = false
  let hasShown = false

  function show(length: number): string {
    const shown = held.slice(0, length)
    held = held.slice(length)
    hasShown ||= shown !== ''
    return shown
  }

  return {
    getLength: () => held.length,
    add(text: string): void {
      held += text
    },
    startMarkup(from: number): void {
      spans.push({ from })
    },
    endMarkup(to: number): void {
      const span = spans.at(-1)
      if (span) span.to = to
    },
    /** There is no markup after all. */
    clearMarkup(): void {
      spans = []
      isTextBeforeShown = false
    },
    /** What may be shown now, if there may be calls: all before the markup, without white space at its end. */
    takeVisible(): string {
      const [first] = spans
      if (!first) return show(held.trimEnd().length)
      if (isTextBeforeShown) return ''
      isTextBeforeShown = true
      const shown = show(held.slice(0, first.from).trimEnd().length)
      spans = spans.map(({ from, to }) => ({
        from: from - shown.length,
        ...(to !== undefined && { to: to - shown.length }),
      }))
      return shown
    },
    takeAll: () => show(held.length),
    /** The text outside the markup; one line break is kept between two pieces of it. */
    removeMarkup(): string {
      const [first] = spans
      if (!first) return held
      const before = held.slice(0, first.from).trimEnd()
      const after = spans.flatMap(({ to = held.length }, i) => {
        const piece = held.slice(to, spans[i + 1]?.from).trim()
        return piece === '' ? [] : [piece]
      })
      const hasTextBefore = hasShown || before !== ''
      return before + after.map((piece, i) => (i > 0 || hasTextBefore ? `\n${piece}` : piece)).join('')
    },
  }
}
