import AlcedoCore
import AlcedoTesting
import TestSupport
import Testing

@Suite struct ManualMemoryPressureSourceTests {
    private let source = ManualMemoryPressureSource()
    private let seen = Watched<[String]>([])

    private func observe(_ name: String) -> any Sendable {
        source.observe { [seen] level in seen.update { $0.append("\(name) \(level)") } }
    }

    @Test func `observers are called at changes, in order, until their token is released`() {
        var first: (any Sendable)? = observe("a")
        let second = observe("b")
        #expect(source.observerCount == 2)

        source.set(.normal)
        source.set(.warning)
        source.set(.warning)
        #expect(seen.value == ["a warning", "b warning"])
        #expect(source.level == .warning)

        first = nil
        source.set(.normal)
        #expect(seen.value == ["a warning", "b warning", "b normal"])
        #expect(source.observerCount == 1)
        withExtendedLifetime((first, second)) {}
    }

    @Test func `a late observer is called from the next change on`() {
        source.set(.critical)
        let token = observe("a")
        #expect(seen.value.isEmpty)
        source.set(.normal)
        #expect(seen.value == ["a normal"])
        withExtendedLifetime(token) {}
    }

    @Test func `a handler may end other observations and begin new ones`() {
        let tokens = Watched<[any Sendable]>([])
        let first = source.observe { [source, seen] level in
            seen.update { $0.append("first \(level)") }
            let old = tokens.update { tokens in
                defer { tokens = [] }
                return tokens
            }
            _ = consume old
            let new = source.observe { level in seen.update { $0.append("new \(level)") } }
            tokens.update { $0 = [new] }
        }
        let second = observe("second")
        tokens.update { $0 = [second] }
        _ = consume second

        source.set(.warning)
        #expect(seen.value == ["first warning"])
        source.set(.critical)
        #expect(seen.value == ["first warning", "first critical"])
        #expect(source.observerCount == 2)
        withExtendedLifetime(first) {}
        tokens.update { $0 = [] }
    }
}
