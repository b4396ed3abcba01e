# The authors' R package on the first task of the speed tables:
#
#   python benchmarks/r_package/ours.py --rows rows.csv
#   OPENBLAS_NUM_THREADS=1 Rscript benchmarks/r_package/krr.R \
#       rows.csv benchmarks/results/r_package.jsonl
#
# Needs the package CVST (Debian: r-cran-cvst). Seconds are of the processor, with the
# final fit; the error is that of the winner on 5,000 fresh rows. The result is appended
# to the second file.
library(CVST)

files <- commandArgs(trailingOnly = TRUE)
rows <- as.matrix(read.csv(files[1], header = FALSE))
n_train <- 1000
n_inputs <- ncol(rows) - 1
part <- function(which) {
  constructData(x = rows[which, 1:n_inputs, drop = FALSE], y = rows[which, n_inputs + 1])
}
train <- part(1:n_train)
test <- part(-(1:n_train))

learner <- constructKRRLearner()
grid <- constructParams(
  kernel = "rbfdot", sigma = 10^seq(-3, 3, length.out = 61), lambda = 10^(-7:2)
)
set.seed(0)
begin <- proc.time()
winner <- fastCV(train, learner, grid, constructCVSTModel(), verbose = FALSE)[[1]]
model <- learner$learn(train, winner)
took <- proc.time() - begin
error <- mean((learner$predict(model, test) - test$y)^2)
cat(sprintf(
  paste0(
    '{"search": "R: CVST, `fastCV`", "seconds": %.2f, "error": %.6f, ',
    '"gamma": %.6g, "lambda": %.6g, "versions": {"R": "%s.%s", "CVST": "%s"}}\n'
  ),
  took[["user.self"]] + took[["sys.self"]], error, winner$sigma, winner$lambda,
  R.version$major, R.version$minor, packageVersion("CVST")
), file = files[2], append = TRUE)
