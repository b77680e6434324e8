/** Is an absolute path a folder, or inside of it? Only the text counts; links are not followed. */
export function isInsideFolder(path: string, folder: string): boolean {
  const plain = folder.endsWith('/') ? folder.replace(/\/+$/, '') : folder
  return path === plain || path === folder || path.startsWith(`${plain}/`)
}
