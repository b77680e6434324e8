// Becomes dist/chunks/cold.cjs: loads the chunks that are in no group.
'use strict'
const flags = require('./engine-flags.cjs')

module.exports = async (path) => {
  const loaded = await flags.loadAsync(() => import(path))
  if (path.includes('bash-parser')) flags.enable('parser')
  return loaded
}
