/** A built file of the inspector's page: its path, relative to the file that imports it. */
declare module '#inspector-page/*' {
  const path: string
  export default path
}
