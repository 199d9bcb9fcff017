import AlcedoCore
import CWebP
import FoundationEssentials

/// What is written beside the pixels of a file, by libwebp's `WebPMux`.
struct WebPMetadata {
    private let chunks: [(id: String, payload: Data)]

    init(colorProfile: Data?, orientation: ImageOrientation) {
        let profile = colorProfile.flatMap { $0.isEmpty ? nil : ("ICCP", $0) }
        let exif = orientation == .up ? nil : ("EXIF", Data(orientation.exif))
        chunks = [profile, exif].compactMap { $0 }
    }

    /// The file with the chunks in it; the file itself when there are none.
    func added(to file: Data) throws(ImageEncodingError) -> Data {
        guard !chunks.isEmpty else { return file }
        let copiesData: Int32 = 1
        guard let container = Self.withWebPData(file, { WebPMuxCreate($0, copiesData) }) else {
            throw ImageEncodingError(.outOfMemory, "WebP: there is no memory for a second file")
        }
        defer { WebPMuxDelete(container) }
        for (id, payload) in chunks {
            try Self.check(Self.withWebPData(payload) { WebPMuxSetChunk(container, id, $0, copiesData) })
        }
        var output = WebPData()
        defer { WebPDataClear(&output) }
        try Self.check(WebPMuxAssemble(container, &output))
        guard let bytes = output.bytes else { throw ImageEncodingError(.failed, "WebP: no file was made") }
        return Data(bytes: bytes, count: output.size)
    }

    private static func withWebPData<Result>(_ data: Data, _ body: (UnsafePointer<WebPData>) -> Result) -> Result {
        data.bytes.withUnsafeBytes { memory in
            var webp = WebPData(bytes: memory.baseAddress?.assumingMemoryBound(to: UInt8.self), size: memory.count)
            return body(&webp)
        }
    }

    private static func check(_ result: WebPMuxError) throws(ImageEncodingError) {
        guard result != WEBP_MUX_OK else { return }
        throw ImageEncodingError(
            result == WEBP_MUX_MEMORY_ERROR ? .outOfMemory : .failed,
            "WebP: libwebp failed with code \(result.rawValue)")
    }
}
