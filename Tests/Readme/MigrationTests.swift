import Foundation
import Testing

/// The pages on migrating list each option of the other libraries, by its name in that library's present headers.
@Suite
struct MigrationTests {
    @Test(arguments: Library.all)
    func `a row lists each option as code, with its counterpart or a reason`(library: Library) throws {
        let page = try library.page()
        // The cells of a row that is no separator: the first one has names of the other library.
        let rows = page.prose.split(separator: "\n").filter { $0.hasPrefix("| ") }
            .map { $0.split(separator: "|").map(String.init) }

        let listed = rows.filter { $0.count == 2 && $0[1].isCounterpartOrReason }.map { $0[0].codeSpans }
            .reduce(into: Set()) { $0.formUnion($1.flatMap(\.names)) }

        #expect((library.inCode + library.inWords).filter { !listed.contains($0) } == [])
    }

    /// `Scripts/docs` compiles the code.
    @Test(arguments: Library.all)
    func `compiled code names each option whose counterpart is code in a comment`(library: Library) throws {
        let comments = try library.page().code.split(separator: "\n").compactMap {
            $0.firstMatch(of: /(?:^|\s)\/\/+ (.*)$/).map { String($0.output.1) }
        }

        let named = Set(comments.flatMap(\.names))

        #expect(library.inCode.filter { !named.contains($0) } == [])
        #expect(library.inWords.filter(named.contains) == [])
    }
}

/// A library that has a page on migrating.
struct Library: Sendable, CustomTestStringConvertible {
    private static let pages = URL(fileURLWithPath: #filePath)
        .appending(path: "../../../Modules/Standard/Documentation.docc").standardized

    let testDescription: String
    /// The options whose counterparts are code.
    let inCode: [String]
    /// The options that have no counterpart, or one that is always in effect.
    let inWords: [String]

    init(_ name: String, inCode: String, inWords: String) {
        testDescription = name
        self.inCode = inCode.split(whereSeparator: \.isWhitespace).map(String.init)
        self.inWords = inWords.split(whereSeparator: \.isWhitespace).map(String.init)
    }

    /// Returns the page without its code blocks, and the Swift code in them.
    func page() throws -> (prose: String, code: String) {
        let page = try String(
            contentsOf: Self.pages.appending(path: "MigratingFrom\(testDescription).md"), encoding: .utf8)
        // Code blocks are at the odd positions.
        let parts = page.components(separatedBy: "```").enumerated()
        return (
            parts.filter { $0.offset.isMultiple(of: 2) }.map(\.element).joined(),
            parts.filter { !$0.offset.isMultiple(of: 2) && $0.element.hasPrefix("swift\n") }.map(\.element).joined()
        )
    }
}

extension String {
    /// The texts between two backticks.
    fileprivate var codeSpans: [String] { matches(of: /`([^`]+)`/).map { String($0.output.1) } }

    /// The words of a text, Objective-C selectors as one word and also each of their parts.
    fileprivate var names: [String] {
        let words = split { !$0.isLetter && !$0.isNumber && $0 != "_" && $0 != ":" }.map(String.init)
        return words + words.flatMap { $0.split(separator: ":").map(String.init) }
    }

    /// Whether the text has a name, or enough words for a reason.
    fileprivate var isCounterpartOrReason: Bool {
        !codeSpans.isEmpty || split(whereSeparator: \.isWhitespace).count >= 4
    }
}

extension Library {
    fileprivate static let all = [kingfisher, nuke, sdWebImage, afNetworking]

    /// The cases of KingfisherOptionsInfoItem, 8.11.
    private static let kingfisher = Library(
        "Kingfisher",
        inCode: """
            targetCache originalCache downloader transition downloadPriority forceRefresh fromMemoryCacheOrRefresh
            forceTransition cacheMemoryOnly waitForCache onlyFromCache callbackQueue scaleFactor requestModifier
            redirectHandler processor cacheSerializer imageModifier keepCurrentImageWhileLoading onlyLoadFirstFrame
            cacheOriginalImage onFailureImage alsoPrefetchToMemory diskStoreWriteOptions memoryCacheExpiration
            memoryCacheAccessExtendingExpiration diskCacheExpiration diskCacheAccessExtendingExpiration progressiveJPEG
            alternativeSources retryStrategy lowDataMode forcedCacheFileExtension
            """,
        inWords: """
            backgroundDecode preloadAllAnimationData loadDiskFileSynchronously asyncCacheTypeCheck processingQueue
            """)

    /// ImageRequest, its options and its ThumbnailOptions, and ImagePipeline.Configuration, 13 and 14.
    private static let nuke = Library(
        "Nuke",
        inCode: """
            priority processors userInfo UserInfoKey url urlRequest imageID scale thumbnail thumbnailKey imageIdKey
            scaleKey id data image disableMemoryCacheReads disableMemoryCacheWrites disableMemoryCache
            disableDiskCacheReads disableDiskCacheWrites disableDiskCache reloadIgnoringCachedData
            returnCacheDataDontLoad skipDataLoadingQueue ThumbnailOptions maxPixelSize createThumbnailWithTransform
            dataLoader dataCache imageCache makeImageDecoder makeImageEncoder dataCachePolicy isRateLimiterEnabled
            isProgressiveDecodingEnabled progressiveDecodingInterval isResumableDataEnabled
            isAnimatedImageParsingEnabled isDiagnosticsEnabled maximumDecodedImageSize maximumResponseDataSize
            isSignpostLoggingEnabled dataLoadingQueue imageDecodingQueue imageEncodingQueue imageProcessingQueue
            imageDecompressingQueue withURLCache withDataCache automatic storeOriginalData storeEncodedImages storeAll
            PreviewPolicy incremental disabled
            """,
        inWords: """
            options stringLiteral skipDecompression createThumbnailFromImageIfAbsent createThumbnailFromImageAlways
            shouldCacheImmediately isDecompressionEnabled isUsingPrepareForDisplay isTaskCoalescingEnabled
            isStoringPreviewsInMemoryCache isLocalResourcesSupportEnabled default callbackQueue dataCachingQueue
            """)

    /// SDWebImageOptions and SDWebImageContextOption, 5.21, by their names in Swift.
    private static let sdWebImage = Library(
        "SDWebImage",
        inCode: """
            retryFailed lowPriority progressiveLoad refreshCached handleCookies allowInvalidSSLCertificates highPriority
            delayPlaceholder transformAnimatedImage avoidAutoSetImage scaleDownLargeImages queryMemoryData fromCacheOnly
            fromLoaderOnly forceTransition decodeFirstFrameOnly waitStoreCache avoidAutoCancelImage
            setImageOperationKey customManager callbackQueue imageCache imageLoader imageCoder imageTransformer
            imageDecodeOptions imageScaleFactor imagePreserveAspectRatio imageThumbnailPixelSize
            imageTypeIdentifierHint imageScaleDownLimitBytes imageDecodeToHDR imageEncodeOptions queryCacheType
            storeCacheType originalQueryCacheType originalStoreCacheType originalImageCache downloadRequestModifier
            downloadResponseModifier downloadDecryptor cacheKeyFilter cacheSerializer loaderCachedImage
            """,
        inWords: """
            continueInBackground queryMemoryDataSync queryDiskDataSync avoidDecodeImage preloadAllFrames
            matchAnimatedImageClass transformVectorImage waitTransition imageForceDecodePolicy animatedImageClass
            """)

    /// AFImageDownloader, its receipt, the categories on views, and AFAutoPurgingImageCache, 4.0.
    private static let afNetworking = Library(
        "AFNetworking",
        inCode: """
            sharedImageDownloader setSharedImageDownloader: setImageWithURL: setImageWithURL:placeholderImage:
            setImageWithURLRequest:placeholderImage:success:failure: cancelImageDownloadTask
            setImageForState:withURL: setImageForState:withURL:placeholderImage:
            setImageForState:withURLRequest:placeholderImage:success:failure:
            setBackgroundImageForState:withURL: setBackgroundImageForState:withURL:placeholderImage:
            setBackgroundImageForState:withURLRequest:placeholderImage:success:failure:
            cancelImageDownloadTaskForState: cancelBackgroundImageDownloadTaskForState:
            setAnimatingWithStateOfTask: setRefreshingWithStateOfTask: setProgressWithDownloadProgressOfTask:animated:
            imageCache sessionManager downloadPrioritization AFImageDownloadPrioritizationFIFO
            AFImageDownloadPrioritizationLIFO defaultInstance defaultURLCache defaultURLSessionConfiguration
            initWithSessionConfiguration:
            initWithSessionManager:downloadPrioritization:maximumActiveDownloads:imageCache:
            downloadImageForURLRequest:success:failure: downloadImageForURLRequest:withReceiptID:success:failure:
            cancelTaskForImageDownloadReceipt: AFImageDownloadReceipt receiptID acceptableContentTypes imageScale
            memoryCapacity preferredMemoryUsageAfterPurge memoryUsage initWithMemoryCapacity:preferredMemoryCapacity:
            addImage:withIdentifier: removeImageWithIdentifier: removeAllImages imageWithIdentifier:
            shouldCacheImage:forRequest:withAdditionalIdentifier: addImage:forRequest:withAdditionalIdentifier:
            removeImageforRequest:withAdditionalIdentifier: imageforRequest:withAdditionalIdentifier:
            """,
        inWords: """
            setProgressWithUploadProgressOfTask:animated: init task automaticallyInflatesResponseImage
            """)
}
