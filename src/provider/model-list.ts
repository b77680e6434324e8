/** For commands that list models; loaded on demand. */
export { sortModelsNewestFirst } from './sort-models.ts'
export { listModels, type ListedModel } from './list-models.ts'
