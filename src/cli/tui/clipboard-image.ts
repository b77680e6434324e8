import { execFile } from 'node:child_process'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** The programs that give the image on the clipboard, on Wayland, X11, macOS and Windows. */
const READERS: readonly (readonly [program: string, ...args: string[]])[] = [
  ['wl-paste', '--no-newline', '--type', 'image/png'],
  ['xclip', '-selection', 'clipboard', '-target', 'image/png', '-out'],
  ['pngpaste', '-'],
  [
    'powershell.exe',
    '-NoProfile',
    '-Command',
    '$i = Get-Clipboard -Format Image; if ($i) { $s = New-Object IO.MemoryStream; $i.Save($s, [Drawing.Imaging.ImageFormat]::Png); $o = [Console]::OpenStandardOutput(); $o.Write($s.ToArray(), 0, $s.Length) }',
  ],
]

/** Writes the image on the clipboard to a private file and returns its path; undefined if there is none, or no such program. */
export async function saveClipboardImage(): Promise<string | undefined> {
  for (const [program, ...args] of READERS) {
    const bytes = await readOutput(program, args)
    if (!bytes?.subarray(0, PNG_HEADER.length).equals(PNG_HEADER)) continue
    const path = join(mkdtempSync(join(tmpdir(), 'dragoman-image-')), 'clipboard.png')
    writeFileSync(path, bytes, { mode: 0o600 })
    return path
  }
  return undefined
}

const PNG_HEADER = Buffer.from([0x89, 0x50, 0x4e, 0x47])

function readOutput(program: string, args: readonly string[]): Promise<Buffer | undefined> {
  return new Promise((resolve) => {
    execFile(program, [...args], { encoding: 'buffer', maxBuffer: 64 << 20, timeout: 5000 }, (error, out) =>
      resolve(error ? undefined : out),
    )
  })
}
