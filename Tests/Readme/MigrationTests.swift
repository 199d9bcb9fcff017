import Foundation
import Testing

/// The pages on migrating name each option of the other libraries, by its name in that library's present headers.
@Suite
struct MigrationTests {
    private static let pages = URL(fileURLWithPath: #filePath)
        .appending(path: "../../../Modules/Standard/Documentation.docc").standardized

    @Test(arguments: options.keys.sorted())
    func `a page names each option of its library, outside of its own code`(library: String) throws {
        let page = try String(
            contentsOf: Self.pages.appending(path: "MigratingFrom\(library).md"), encoding: .utf8)
        // Code blocks are at the odd positions.
        let prose = page.components(separatedBy: "```").enumerated().filter { $0.offset.isMultiple(of: 2) }
            .map(\.element).joined()
        let words = Set(prose.split { !$0.isLetter && !$0.isNumber && $0 != "_" && $0 != ":" }.map(String.init))
        let parts = words.union(words.flatMap { $0.split(separator: ":").map(String.init) })

        let names = try #require(options[library]).split(whereSeparator: \.isWhitespace).map(String.init)
        #expect(names.filter { !parts.contains($0) } == [])
    }
}

private let options = [
    // The cases of KingfisherOptionsInfoItem, 8.11.
    "Kingfisher": """
    targetCache originalCache downloader transition downloadPriority forceRefresh fromMemoryCacheOrRefresh
    forceTransition cacheMemoryOnly waitForCache onlyFromCache backgroundDecode callbackQueue scaleFactor
    preloadAllAnimationData requestModifier redirectHandler processor cacheSerializer imageModifier
    keepCurrentImageWhileLoading onlyLoadFirstFrame cacheOriginalImage onFailureImage alsoPrefetchToMemory
    loadDiskFileSynchronously asyncCacheTypeCheck diskStoreWriteOptions memoryCacheExpiration
    memoryCacheAccessExtendingExpiration diskCacheExpiration diskCacheAccessExtendingExpiration processingQueue
    progressiveJPEG alternativeSources retryStrategy lowDataMode forcedCacheFileExtension
    """,
    // ImageRequest, its options and its ThumbnailOptions, and ImagePipeline.Configuration, 13 and 14.
    "Nuke": """
    priority processors options userInfo url urlRequest imageID scale thumbnailKey imageIdKey scaleKey
    disableMemoryCacheReads disableMemoryCacheWrites disableMemoryCache disableDiskCacheReads
    disableDiskCacheWrites disableDiskCache reloadIgnoringCachedData returnCacheDataDontLoad skipDecompression
    skipDataLoadingQueue ThumbnailOptions createThumbnailFromImageIfAbsent createThumbnailFromImageAlways
    createThumbnailWithTransform shouldCacheImmediately
    dataLoader dataCache imageCache makeImageDecoder makeImageEncoder isDecompressionEnabled
    isUsingPrepareForDisplay dataCachePolicy isTaskCoalescingEnabled isRateLimiterEnabled
    isProgressiveDecodingEnabled progressiveDecodingInterval isStoringPreviewsInMemoryCache isResumableDataEnabled
    isLocalResourcesSupportEnabled isAnimatedImageParsingEnabled isDiagnosticsEnabled maximumDecodedImageSize
    maximumResponseDataSize isSignpostLoggingEnabled dataLoadingQueue imageDecodingQueue imageEncodingQueue
    imageProcessingQueue imageDecompressingQueue withURLCache withDataCache automatic storeOriginalData
    storeEncodedImages storeAll PreviewPolicy incremental disabled thumbnail default maxPixelSize
    """,
    // SDWebImageOptions and SDWebImageContextOption, 5.21, by their names in Swift.
    "SDWebImage": """
    retryFailed lowPriority progressiveLoad refreshCached continueInBackground handleCookies
    allowInvalidSSLCertificates highPriority delayPlaceholder transformAnimatedImage avoidAutoSetImage
    scaleDownLargeImages queryMemoryData queryMemoryDataSync queryDiskDataSync fromCacheOnly fromLoaderOnly
    forceTransition avoidDecodeImage decodeFirstFrameOnly preloadAllFrames matchAnimatedImageClass waitStoreCache
    transformVectorImage avoidAutoCancelImage waitTransition
    setImageOperationKey customManager callbackQueue imageCache imageLoader imageCoder imageTransformer
    imageForceDecodePolicy imageDecodeOptions imageScaleFactor imagePreserveAspectRatio imageThumbnailPixelSize
    imageTypeIdentifierHint imageScaleDownLimitBytes imageDecodeToHDR imageEncodeOptions queryCacheType
    storeCacheType originalQueryCacheType originalStoreCacheType originalImageCache animatedImageClass
    downloadRequestModifier downloadResponseModifier downloadDecryptor cacheKeyFilter cacheSerializer
    loaderCachedImage
    """,
    // AFImageDownloader, its receipt, the categories on UIImageView and UIButton, and AFAutoPurgingImageCache, 4.0.
    "AFNetworking": """
    sharedImageDownloader setSharedImageDownloader setImageWithURL setImageWithURLRequest cancelImageDownloadTask
    setImageForState setBackgroundImageForState cancelImageDownloadTaskForState
    cancelBackgroundImageDownloadTaskForState setAnimatingWithStateOfTask setRefreshingWithStateOfTask
    setProgressWithDownloadProgressOfTask setProgressWithUploadProgressOfTask
    imageCache sessionManager downloadPrioritizaton AFImageDownloadPrioritizationFIFO
    AFImageDownloadPrioritizationLIFO defaultInstance defaultURLCache defaultURLSessionConfiguration
    initWithSessionConfiguration initWithSessionManager maximumActiveDownloads downloadImageForURLRequest
    withReceiptID cancelTaskForImageDownloadReceipt AFImageDownloadReceipt task receiptID
    memoryCapacity preferredMemoryUsageAfterPurge memoryUsage initWithMemoryCapacity addImage
    removeImageWithIdentifier removeAllImages imageWithIdentifier shouldCacheImage removeImageforRequest
    imageforRequest acceptableContentTypes imageScale automaticallyInflatesResponseImage
    """,
]
