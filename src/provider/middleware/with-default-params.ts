import type { ModelParams } from '../../model/request.ts'
import type { Model } from '../model.ts'
import { wrapModel } from './wrap-model.ts'

/** Adds parameters to each request, unless the request has them itself. */
export function withDefaultParams(model: Model, params: ModelParams): Model {
  if (Object.keys(params).length === 0) return model
  return wrapModel(model, (request, options) =>
    // The same object for each request: it may be a part of what a cache compares.
    model.stream({ ...request, params: request.params ? { ...params, ...request.params } : params }, options),
  )
}
