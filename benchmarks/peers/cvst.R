# R's CVST, race and full search, on the work of searches.py in this folder:
#
#   python benchmarks/peers/searches.py --rows rows0.csv 0    # and so for 1 and 2
#   OPENBLAS_NUM_THREADS=1 Rscript benchmarks/peers/cvst.R \
#     rows0.csv rows1.csv rows2.csv benchmarks/results/peers.jsonl
#
# Needs the package CVST (Debian: r-cran-cvst), with the settings of its own and a
# learner of ours: its own machine is tuned by nu. Seconds are of the processor, with
# the final fit; the error is that of the winner on 4,000 fresh rows. What the last file
# has already is not run again.
suppressPackageStartupMessages(library(CVST))
arguments <- commandArgs(trailingOnly = TRUE)
results <- tail(arguments, 1)
files <- head(arguments, -1)

# The normalisation of scikit-learn's scaler, and no other.
scaled <- function(x, centre, spread) sweep(sweep(x, 2, centre), 2, spread, "/")
learner <- constructLearner(
  function(data, params) {
    centre <- colMeans(data$x)
    spread <- sqrt(colMeans(sweep(data$x, 2, centre)^2))
    spread[spread == 0] <- 1
    model <- ksvm(
      scaled(data$x, centre, spread), data$y,
      type = "C-svc", scaled = FALSE, kernel = "rbfdot",
      kpar = list(sigma = params$sigma), C = params$cost
    )
    list(model = model, centre = centre, spread = spread)
  },
  function(found, data) {
    predict(found$model, scaled(data$x, found$centre, found$spread))
  }
)
grid <- constructParams(
  cost = 10^seq(-1, 3, length.out = 7), sigma = 10^seq(-4, 0, length.out = 7)
)
search_with <- list(
  "R: CVST `fastCV`" = function(data) {
    fastCV(data, learner, grid, constructCVSTModel(), verbose = FALSE)
  },
  "R: CVST `CV`" = function(data) CV(data, learner, grid, fold = 5, verbose = FALSE)
)

versions <- sprintf(
  '"R": "%s.%s", "CVST": "%s", "kernlab": "%s"',
  R.version$major, R.version$minor, packageVersion("CVST"), packageVersion("kernlab")
)
known <- if (file.exists(results)) readLines(results) else character()
for (seed in seq_along(files) - 1L) {
  rows <- as.matrix(read.csv(files[seed + 1L], header = FALSE))
  part <- function(which) {
    constructData(x = rows[which, -ncol(rows)], y = factor(rows[which, ncol(rows)]))
  }
  train <- part(1:1000)
  test <- part(-(1:1000))
  for (name in names(search_with)) {
    key <- sprintf('{"search": "%s", "seed": %d,', name, seed)
    if (any(startsWith(known, key))) next
    set.seed(seed)
    began <- proc.time()
    winner <- search_with[[name]](train)[[1]]
    final <- learner$learn(train, winner)
    took <- proc.time() - began
    error <- mean(learner$predict(final, test) != test$y)
    cat(sprintf(
      paste0(
        '%s "folds": 5, "seconds": %.2f, "wall": %.2f, "error": %.5f, ',
        '"winner": {"cost": %.6g, "rbf_sigma": %.6g}, "versions": {%s}}\n'
      ),
      key, sum(took[c("user.self", "sys.self")]), took[["elapsed"]], error,
      winner$cost, winner$sigma, versions
    ), file = results, append = TRUE)
  }
}
