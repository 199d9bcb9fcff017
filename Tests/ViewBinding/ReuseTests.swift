import AlcedoCore
import AlcedoViewBinding
import Testing

/// One recycled view under thousands of random events, checked after each against a model that knows nothing of
/// receipts.
@Suite(.timeLimit(.minutes(10))) @MainActor struct ReuseTests {
    private struct Pending {
        var serial: Int
        var image: Int
        var task: Task<Void, Never>
    }

    /// The load that the view waits for, by the rules alone.
    private struct Wanted {
        var serial: Int
        var image: Int
        var look: BindingOptions
    }

    private static let placeholder: UInt8 = 200
    private static let failure: UInt8 = 250

    @Test(arguments: [1, 2, 3] as [UInt64])
    func `a reused view never shows another request's image`(seed: UInt64) async {
        var random = SplitMix64(state: seed)
        let loader = FakeLoader()
        let view = FakeView()
        let binder = ImageBinder(view: view, loader: loader)
        var pending: [Pending] = []
        var wanted: Wanted?
        var expected = FakeView.Shown.nothing
        var bound = 0
        var ended = 0

        for serial in 1...3_000 {
            switch Int.random(in: 0..<10, using: &random) {
            case 0..<4:
                let image = Int.random(in: 1...20, using: &random)
                let options = BindingOptions(
                    placeholder: Bool.random(using: &random) ? .gray(Self.placeholder) : nil,
                    failureImage: Bool.random(using: &random) ? .gray(Self.failure) : nil,
                    keepsCurrentImage: Int.random(in: 0..<4, using: &random) == 0)
                let request = ImageRequest(image: image, serial: serial)
                let isInMemory = Int.random(in: 0..<4, using: &random) == 0
                loader.setMemory(isInMemory ? .gray(UInt8(image)) : nil, for: request)

                bound += 1
                binder.bind(request, options: options) { _ in ended += 1 }

                if wanted?.image == image { break }
                if isInMemory {
                    (wanted, expected) = (nil, .image(UInt8(image), .memory))
                    break
                }
                wanted = Wanted(serial: serial, image: image, look: options)
                if options.placeholder != nil {
                    expected = .placeholder(Self.placeholder)
                } else if !options.keepsCurrentImage {
                    expected = .nothing
                }
                guard let task = binder.task else {
                    Issue.record("no load for a miss")
                    return
                }
                pending.append(Pending(serial: serial, image: image, task: task))
                // Otherwise the load may be replaced before it has begun.
                if Bool.random(using: &random) { await loader.arrival(of: serial) }
            case 4:
                binder.cancel()
                wanted = nil
            case 5 where Bool.random(using: &random):
                bound += 1
                binder.bind(nil) { _ in ended += 1 }
                (wanted, expected) = (nil, .nothing)
            default:
                guard let index = pending.indices.randomElement(using: &random) else { continue }
                let call = pending.remove(at: index)
                let fails = Int.random(in: 0..<4, using: &random) == 0
                loader.finish(call.serial, fails ? .failure(LoadFailure()) : .gray(UInt8(call.image)))
                await call.task.value
                guard let current = wanted, current.serial == call.serial else { break }
                wanted = nil
                if !fails {
                    expected = .image(UInt8(call.image), .network)
                } else if current.look.failureImage != nil {
                    expected = .failure(Self.failure)
                } else if current.look.placeholder == nil {
                    expected = .nothing
                }
            }
            guard view.shown == expected, binder.isLoading == (wanted != nil) else {
                Issue.record("event \(serial): shows \(view.shown), expected \(expected)")
                return
            }
        }

        binder.cancel()
        for call in pending {
            loader.finish(call.serial, .gray(UInt8(call.image)))
            await call.task.value
        }
        #expect(view.shown == expected)
        #expect(bound == ended)
        #expect(bound > 1_000)
    }
}

/// A seeded generator. Source: Steele, Lea, Flood, "Fast splittable pseudorandom number generators", 2014.
struct SplitMix64: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }
}
