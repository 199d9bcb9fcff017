import AlcedoCore
import AlcedoTesting
import FoundationEssentials
import TestSupport
import Testing

@Suite struct IncrementalDecodingTests {
    private let codec = TextCodec()
    private var registry: CodecRegistry { CodecRegistry([TextCodec(prefix: "other:").entry, codec.entry]) }

    /// Counts calls, throws where required, and detects concurrent calls.
    private final class RecordingState: IncrementalDecodingState {
        struct CallRecord: Sendable {
            var inside = 0
            var maximumInside = 0
            var calls = 0
        }

        let calls: Watched<CallRecord>
        let failingCall: Int

        init(_ calls: Watched<CallRecord>, failingCall: Int = .max) {
            self.calls = calls
            self.failingCall = failingCall
        }

        private func enter() throws(ImageDecodingError) {
            let call = calls.update { calls in
                calls.inside += 1
                calls.maximumInside = max(calls.maximumInside, calls.inside)
                calls.calls += 1
                return calls.calls
            }
            defer { calls.update { $0.inside -= 1 } }
            // Long enough for other calls to enter if they were not serialized.
            for _ in 0..<200 { _ = calls.value }
            if call == failingCall { throw ImageDecodingError(.corrupt, "call \(call)") }
        }

        var info: ImageInfo? { nil }
        var decodingByteCount: Int? { nil }
        func append(_ bytes: Data) throws(ImageDecodingError) { try enter() }
        func preview() throws(ImageDecodingError) -> ImagePreview? {
            try enter()
            return nil
        }
        func finish() throws(ImageDecodingError) -> DecodedImage {
            try enter()
            throw ImageDecodingError(.truncated, "the end")
        }
    }

    @Test func `after an error every call throws it again without calling the codec`() throws {
        let calls = Watched(RecordingState.CallRecord())
        let decoder = IncrementalDecoder(RecordingState(calls, failingCall: 3))
        try decoder.append(Data([1]))
        _ = try decoder.preview()
        let failure = ImageDecodingError(.corrupt, "call 3")

        #expect(throws: failure) { try decoder.append(Data([2])) }
        #expect(throws: failure) { try decoder.append(Data([3])) }
        #expect(throws: failure) { try decoder.preview() }
        #expect(throws: failure) { try decoder.finish() }
        #expect(calls.value.calls == 3)
    }

    @Test func `an error of a preview or of the end is repeated, too`() {
        let calls = Watched(RecordingState.CallRecord())
        let first = IncrementalDecoder(RecordingState(calls, failingCall: 1))
        #expect(throws: ImageDecodingError(.corrupt, "call 1")) { try first.preview() }
        #expect(throws: ImageDecodingError(.corrupt, "call 1")) { try first.append(Data()) }
        let second = IncrementalDecoder(RecordingState(calls))
        #expect(throws: ImageDecodingError(.truncated, "the end")) { try second.finish() }
        #expect(throws: ImageDecodingError(.truncated, "the end")) { try second.append(Data()) }
        #expect(calls.value.calls == 2)
    }

    @Test func `calls from many threads are serialized`() async {
        let calls = Watched(RecordingState.CallRecord())
        let decoder = IncrementalDecoder(RecordingState(calls))
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    for _ in 0..<25 { try? decoder.append(Data([1])) }
                }
            }
        }
        #expect(calls.value.calls == 200)
        #expect(calls.value.maximumInside == 1)
    }

    @Test(arguments: [1, 2, 3, 5, 100]) func `the format is detected for any size of pieces`(step: Int) throws {
        let data = Data("pic:12345".utf8)
        let options = DecodingOptions(alphaMode: .premultiplied)
        let decoder = registry.makeIncrementalDecoder(options: options)
        for start in stride(from: 0, to: data.count, by: step) {
            #expect(decoder.info == nil)
            try decoder.append(data[start..<min(data.count, start + step)])
            #expect(try decoder.preview() == nil)
        }

        let image = try decoder.finish()

        #expect(image.pixels.tightBytes == Array("12345".utf8))
        #expect(decoder.info == codec.info)
        #expect(codec.calls.value == [options])
    }

    @Test func `pieces may be slices of other data`() throws {
        // Slices do not begin at index zero.
        let data = Data("----pic:678----".utf8)
        let decoder = registry.makeIncrementalDecoder()
        try decoder.append(data[4..<6])
        try decoder.append(data[6..<11])
        #expect(try decoder.finish().pixels.tightBytes == Array("678".utf8))
    }

    @Test func `text and unknown bytes are refused once they cannot become an image`() throws {
        for (text, words) in [("<html>", "text"), ("{\"a\"", "text"), ("\u{1}\u{2}", "add its codec")] {
            let bytes = Array(text.utf8) + Array(repeating: 0x20, count: 100)
            let decoder = registry.makeIncrementalDecoder()
            for byte in bytes[..<63] { try decoder.append(Data([byte])) }
            #expect {
                try decoder.append(Data([bytes[63]]))
            } throws: {
                let error = $0 as? ImageDecodingError
                return error?.code == .unknownFormat && error?.message.contains(words) == true
            }
        }
    }

    @Test func `an end before the format is known throws the error of one-shot decoding`() throws {
        for text in ["", "p", "pic", "<a>", "zzz"] {
            let data = Data(text.utf8)
            let decoder = registry.makeIncrementalDecoder()
            try decoder.append(data)
            var expected: ImageDecodingError?
            do throws(ImageDecodingError) { _ = try registry.decode(data) } catch { expected = error }
            #expect(throws: try #require(expected)) { try decoder.finish() }
        }
    }

    @Test func `damage in a format without incremental decoding is reported at the end`() throws {
        for (text, code) in [("pic:1x", ImageDecodingError.Code.corrupt), ("pic:", .truncated)] {
            let decoder = codec.makeIncrementalDecoder(options: DecodingOptions())
            for byte in Data(text.utf8) { try decoder.append(Data([byte])) }
            #expect { try decoder.finish() } throws: { ($0 as? ImageDecodingError)?.code == code }
        }
    }
}
