import Alcedo
import ExampleSupport
import FoundationEssentials

/// What makers of files work with.
struct FileTools: Sendable {
    let pipeline: ImagePipeline
    let codecs: CodecRegistry
    let layers: LayerObserver
    let transfers: TransferWatch
    /// Where they encode and write.
    let files: BlockingExecutor

    /// An image as it came.
    struct Original: Sendable {
        /// For the same bytes; they are not fetched again.
        var request: ImageRequest
        var info: ImageInfo
        var layer: ImageResponse.Layer
        var byteCount: Int
    }

    /// Fetches an image, and reads what it says of itself.
    func original(_ request: ImageRequest, progress: @escaping BatchLoad.Progress) async throws -> Original {
        let data = try await transfers.watch(request.source, progress) { try await pipeline.data(for: request) }
        progress(DownloadProgress(received: data.count, expected: data.count))
        let info = try await files.run { try codecs.inspect(data, limits: request.decoding.limits) }
        var inMemory = request
        inMemory.source = .bytes(data, identity: request.originalKey.description)
        return Original(
            request: inMemory, info: info, layer: layers.layer(of: request), byteCount: data.count)
    }
}

extension FileTools {
    /// What a file that was made of an image does not keep of it.
    ///
    /// - Parameter image: What was encoded.
    func losses(from info: ImageInfo, _ image: DecodedImage, in data: Data) throws -> [Loss] {
        // What was made here is as large as it was let be.
        Loss.between(info, image, try codecs.inspect(data, limits: DecodingLimits(maximumPixelCount: .max)))
    }
}

extension ImageInfo {
    /// The samples that lose nothing of a file's.
    var exactFormat: PixelFormat {
        if bitDepth > 8 { return .rgba16 }
        return colorModel == .gray && !hasAlpha ? .gray8 : .rgba8
    }
}
