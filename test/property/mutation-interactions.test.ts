import { interactionsKit } from '../support/mutate-interactions.ts'
import { mutationSuite } from '../support/mutate-suite.ts'

mutationSuite([interactionsKit, 16])
