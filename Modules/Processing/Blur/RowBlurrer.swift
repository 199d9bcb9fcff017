/// Blurs along one row of floats.
struct RowBlurrer: ~Copyable {
    private let kernel: BlurKernel
    private let width: Int
    private let channels: Int
    private let reach: Int
    /// The row with as many pixels more on either side as the kernel reaches, twice, to go back and forth between.
    private let padded: Scratch<Float>
    private let other: Scratch<Float>
    private let pointers: Scratch<UnsafePointer<Float>>

    init(_ kernel: BlurKernel, width: Int, channels: Int) {
        self.kernel = kernel
        self.width = width
        self.channels = channels
        reach = kernel.reach
        // Kernels step by 16 floats, beyond the last pixel too.
        let floats = (width + 2 * reach) * channels + 16
        padded = Scratch(count: floats)
        switch kernel {
        case .weights(let weights):
            other = Scratch(count: 0)
            pointers = Scratch(count: weights.count)
            for index in weights.indices { pointers.base[index] = UnsafePointer(padded.base + index * channels) }
        case .boxes:
            other = Scratch(count: floats)
            pointers = Scratch(count: 0)
        }
    }

    /// Where the row goes before it is blurred.
    var input: UnsafeMutablePointer<Float> { padded.base + reach * channels }

    /// Blurs what is at ``input``. Writes a multiple of 16 floats.
    mutating func blur(into out: UnsafeMutablePointer<Float>) {
        extend()
        switch kernel {
        case .weights(let weights):
            // Along a row is the same as down columns of the row and its shifted copies.
            weights.withUnsafeBufferPointer { weights in
                guard let weights = weights.baseAddress else { return }
                Convolution.vertical(
                    rows: UnsafeBufferPointer(start: pointers.base, count: reach * 2 + 1), weights: weights,
                    floats: (width * channels + 15) / 16 * 16, into: out)
            }
        case .boxes(let radius, let edge):
            let box = RunningAverage(radius: radius, edge: edge)
            var length = width + 2 * reach
            length = box.average(padded.base, length, channels: channels, into: other.base)
            length = box.average(other.base, length, channels: channels, into: padded.base)
            _ = box.average(padded.base, length, channels: channels, into: out)
        }
    }

    /// Repeats the outermost pixels beyond the edges.
    private func extend() {
        let last = (width - 1) * channels
        for offset in 1...reach {
            for channel in 0..<channels {
                input[channel - offset * channels] = input[channel]
                input[last + offset * channels + channel] = input[last + channel]
            }
        }
    }
}
