import '../../src/app/sentences.ts'
