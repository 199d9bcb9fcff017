import Alcedo
import AlcedoProgramSupport
import AlcedoRuntime

/// Thumbnails as the programs of a desktop expect them: PNG with 8 bits per sample, in sRGB, upright, and never larger
/// than the image.
struct DesktopThumbnailMaker: FileMaking {
    /// The sizes of the thumbnails.
    let fit: FitOptions
    /// The directories that desktops share, or nil to write one thumbnail to the job's destination.
    let shared: SharedThumbnails?
    /// Whether current thumbnails are made again, and files that could not be read are tried again.
    let replaces: Bool

    var fileExtension: String { "png" }

    /// False, because a thumbnail is expected to lose detail and animation.
    var reportsLosses: Bool { false }

    func make(
        _ request: ImageRequest, with tools: FileTools, into sink: OutputSink, progress: @escaping BatchLoad.Progress
    ) async throws -> WrittenImage {
        guard let shared else {
            let original = try await tools.original(request, progress: progress)
            return try await tools.write(
                try await thumbnails(fit, of: original, for: nil, with: tools), of: original, into: sink,
                ignoring: [.profile])
        }
        guard case .file(let path) = request.source else {
            throw InputError(description: "--freedesktop makes thumbnails of files only")
        }
        let (file, current) = try await tools.files.run { try state(of: path, in: shared) }
        let missing = fit.sizes.filter { !current.contains($0) }
        let kept = current.map {
            WrittenFile(path: shared.path(of: file, size: $0), size: nil, byteCount: 0, isKept: true)
        }
        guard !missing.isEmpty else { return WrittenImage(files: kept, layer: .local, bytesIn: 0) }
        do {
            let original = try await tools.original(request, progress: progress)
            let images = try await thumbnails(fit.with(sizes: missing), of: original, for: file, with: tools)
            let written = try await tools.files.run {
                try zip(missing, images.variants).map { size, image in
                    WrittenFile(
                        path: try shared.write(image.data, of: file, size: size), size: image.size,
                        byteCount: image.data.count, losses: image.losses.filter { $0 != .profile })
                }
            }
            return WrittenImage(
                files: kept + written, layer: original.layer, bytesIn: original.byteCount, damage: images.damage)
        } catch {
            // The next run would fail, too.
            if Self.isLasting(error) { try? await tools.files.run { try shared.writeFailure(of: file) } }
            throw error
        }
    }

    /// Returns the state of a file, and the sizes of which it has a current thumbnail.
    ///
    /// - Throws: ``InputError`` if the file cannot be accessed, is itself a thumbnail, or could not be read before.
    private func state(of path: String, in shared: SharedThumbnails) throws -> (ThumbnailSource, current: [Int]) {
        let file = try ThumbnailSource(path)
        if shared.contains(file) { throw InputError(description: "the file is in the directory of thumbnails") }
        if replaces { return (file, []) }
        let current = fit.sizes.filter { shared.hasThumbnail(of: file, size: $0) }
        if current.count < fit.sizes.count, shared.hasFailure(of: file) {
            throw InputError(description: "an earlier run could not read this file; --force tries it again")
        }
        return (file, current)
    }

    /// Returns thumbnails of all sizes, from one decode.
    ///
    /// - Parameters:
    ///   - fit: The sizes.
    ///   - original: The original bytes of the image.
    ///   - file: The file that the thumbnails identify, or nil if the caller adds it.
    ///   - tools: The tools of the job.
    private func thumbnails(
        _ fit: FitOptions, of original: FileTools.Original, for file: ThumbnailSource?, with tools: FileTools
    ) async throws -> ConvertedImages {
        var texts = file?.texts ?? [:]
        texts["Thumb::Mimetype"] = original.info.format.mediaType
        texts["Thumb::Image::Width"] = "\(original.info.uprightSize.width)"
        texts["Thumb::Image::Height"] = "\(original.info.uprightSize.height)"
        let form = OutputForm(
            fit: fit, processors: [], encoder: SharedThumbnails.encoder(texts), metadata: .strip, resolution: nil)
        return try await form.variants(
            of: original, in: .sRGB, keepsAnimation: false, keepsDepth: false, with: tools)
    }

    /// Whether an error is one of the file itself, and not of memory, of time or of limits.
    private static func isLasting(_ error: any Error) -> Bool {
        switch error.decodingCode {
        case .empty, .unknownFormat, .truncated, .corrupt, .unsupportedVariant, .decoderFailed: true
        case .exceedsLimit, .timedOut, .outOfMemory, .decoderUnavailable, nil: false
        }
    }
}
