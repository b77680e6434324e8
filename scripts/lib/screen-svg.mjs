// A captured terminal screen, with its colours, as an SVG picture.
const CELL = { width: 8.4, height: 18 }
const COLOURS = {
  30: '#45475a',
  31: '#f38ba8',
  32: '#a6e3a1',
  33: '#f9e2af',
  34: '#89b4fa',
  35: '#cba6f7',
  36: '#94e2d5',
  37: '#cdd6f4',
  90: '#7f849c',
}
const PLAIN = '#cdd6f4'
const BACK = '#1e1e2e'

/** Draws what `tmux capture-pane -e -p` prints. */
export function screenSvg(screen, columns, title) {
  const lines = screen.replace(/\n+$/, '').split('\n')
  const width = columns * CELL.width + 32
  const height = lines.length * CELL.height + 56
  const rows = lines.map((text, row) => drawn(text, 52 + row * CELL.height)).join('\n')
  const dots = ['#f38ba8', '#f9e2af', '#a6e3a1'].map(
    (fill, at) => `<circle cx="${20 + at * 18}" cy="18" r="6" fill="${fill}"/>`,
  )
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="${escaped(title)}">
<rect width="100%" height="100%" rx="8" fill="${BACK}"/>
${dots.join('')}
<g font-family="ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace" font-size="14" fill="${PLAIN}">
${rows}
</g>
</svg>
`
}

function drawn(text, y) {
  let look = {}
  let column = 0
  const pieces = []
  for (const [, codes, plain] of text.matchAll(/\u001B\[([\d;]*)m|([^\u001B]+)/g)) {
    if (plain === undefined) look = changed(look, codes)
    else {
      const x = 16 + column * CELL.width
      const length = [...plain].length
      if (plain.trim() !== '')
        pieces.push(
          `<text x="${x.toFixed(1)}" y="${y}" textLength="${(length * CELL.width).toFixed(1)}"${styled(look)}>${escaped(plain)}</text>`,
        )
      column += length
    }
  }
  return pieces.join('')
}

function changed(look, codes) {
  let next = look
  for (const code of (codes || '0').split(';').map(Number)) {
    if (code === 0) next = {}
    else if (code === 1) next = { ...next, bold: true }
    else if (code === 2) next = { ...next, dim: true }
    else if (code === 3) next = { ...next, italic: true }
    else if (code === 4) next = { ...next, underlined: true }
    else if (code === 39) next = { ...next, fill: undefined }
    else if (COLOURS[code] !== undefined) next = { ...next, fill: COLOURS[code] }
  }
  return next
}

function styled({ fill, bold, dim, italic, underlined }) {
  return [
    fill && ` fill="${fill}"`,
    bold && ' font-weight="bold"',
    dim && ' opacity="0.6"',
    italic && ' font-style="italic"',
    underlined && ' text-decoration="underline"',
  ]
    .filter(Boolean)
    .join('')
}

function escaped(text) {
  // Spaces at the beginning of a piece are kept only if they cannot break.
  return text
    .replaceAll(' ', '\u00A0')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
}
