import AlcedoTesting

/// Random numbers that are equal in every run and on every machine.
package struct SeededGenerator: RandomNumberGenerator {
    private var random: SplitMix64

    package init(seed: UInt64) { random = SplitMix64(seed: seed) }

    package mutating func next() -> UInt64 { random.next() }
}
